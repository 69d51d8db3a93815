# SPDX-License-Identifier: Apache-2.0
# Counts test cases for `./dev test`. Reads ctest's JUnit file; a test that left GoogleTest's XML in `results` counts by its
# cases, any other counts as one. Prints "PASSED FAILED SKIPPED"; names of failed and reasons of skipped ones go to stderr.

function attribute(line, name,    parts) {
  if (split(line, parts, " " name "=\"") < 2) return ""
  sub(/".*/, "", parts[2])
  return parts[2]
}

function plain(text) {
  sub(/^[^&]*&#x0A;/, "", text)
  gsub(/&#x0A;/, " ", text); gsub(/&quot;/, "\"", text); gsub(/&apos;/, "'", text)
  gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&amp;/, "\\&", text)
  return text
}

function report(kind, test, reason) {
  print "  " kind ": " test (reason == "" ? "" : ": " reason) > "/dev/stderr"
}

# Skipped cases of a program with one reason are told together.
function note_skipped(test, reason,    key) {
  key = test
  sub(/ .*/, "", key)
  key = key SUBSEP reason
  skipped_first[key] = test
  skipped_count[key]++
}

function report_skipped(    key, parts) {
  for (key in skipped_count) {
    split(key, parts, SUBSEP)
    report("skipped", skipped_count[key] == 1 ? skipped_first[key] : parts[1] ", " skipped_count[key] " cases", parts[2])
  }
}

# Counts the cases of one GoogleTest program; 0 if it left no file.
function count_cases(program,    file, line, name, n_cases, failed_here) {
  file = results "/" program ".xml"
  while ((getline line < file) > 0) {
    if (line ~ /<testcase /) {
      name = program " " attribute(line, "classname") "." attribute(line, "name")
      n_cases++
      failed_here = 0
      if (attribute(line, "result") == "skipped") n_skipped++
      else n_passed++
    } else if (line ~ /<skipped /) {
      note_skipped(name, plain(attribute(line, "message")))
    } else if (line ~ /<failure / && !failed_here) {
      failed_here = 1
      n_failed++; n_passed--
      report("FAILED", name, "")
    }
  }
  close(file)
  return n_cases
}

/<testcase / {
  program = attribute($0, "name")
  status = attribute($0, "status")
  failed_before = n_failed
  if (count_cases(program) > 0) {
    if (status == "fail" && n_failed == failed_before) { n_failed++; report("FAILED", program, "crashed, or failed at its exit") }
  } else if (status == "run") {
    n_passed++
  } else if (status == "fail") {
    n_failed++; report("FAILED", program, "")
  }
}

# A test without cases of its own that did not run: skipped by itself, or impossible to run.
/<skipped message=/ {
  if ($0 ~ /SKIP_/) { n_skipped++; reason_follows = 1 }
  else { n_failed++; report("FAILED", program, attribute($0, "message")) }
}

reason_follows && /skipped: / {
  sub(/.*skipped: /, "")
  note_skipped(program, $0)
  reason_follows = 0
}

END {
  report_skipped()
  print n_passed + 0, n_failed + 0, n_skipped + 0
}
