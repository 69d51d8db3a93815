// SPDX-License-Identifier: Apache-2.0
#include "bindings/vosk/result.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

namespace senone::vosk {

namespace {

// Layout writes an object of Vosk's layout: a member a line, objects of a list side by side.
class Layout {
 public:
  explicit Layout(size_t depth) : pad_(2 * depth, ' ') {}

  void add(const char *key, const std::string &json) {
    text_ += (text_.empty() ? "{\n" : ",\n") + pad_ + '"' + key + "\" : " + json;
  }
  void add_text(const char *key, const std::string &text) {
    add(key, nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  void add_number(const char *key, double value) {
    std::array<char, 64> digits;  // a double of 1e15 or less, as all times and confidences are
    const auto end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed, 6);
    add(key, end.ec == std::errc() ? std::string(digits.data(), end.ptr) : "0.000000");
  }
  std::string close() const { return (text_.empty() ? "{" : text_) + '\n' + pad_.substr(2) + '}'; }

 private:
  const std::string pad_;
  std::string text_;
};

std::string list_of(const std::vector<std::string> &objects) {
  std::string text = "[";
  for (size_t i = 0; i < objects.size(); ++i) text += (i > 0 ? ", " : "") + objects[i];
  return text + ']';
}

// Returns false for a result without words, and for one whose words are only the nearest of the grammar.
bool is_heard(const Event &event) { return !event.text().empty() && (event.flags() & ASR_FLAG_REJECTED) == 0; }

std::string text_of(const std::vector<Heard> &finals) {
  std::string text;
  for (const Heard &final : finals) {
    if (is_heard(final.event)) text += (text.empty() ? "" : " ") + std::string(final.event.text());
  }
  return text;
}

// Returns what results without words have as their text.
std::string unheard_text(const std::vector<Heard> &finals) {
  const bool is_unknown = std::any_of(finals.begin(), finals.end(), [](const Heard &final) {
    return final.has_unknown && (final.event.flags() & ASR_FLAG_REJECTED) != 0;
  });
  return is_unknown ? kUnknown : "";
}

// Appends the words as objects at the depth of their members.
void append_words(const Words &words, double offset_s, size_t depth, std::vector<std::string> *objects) {
  for (const Word &word : words) {
    Layout object(depth);
    if (word.confidence >= 0) object.add_number("conf", word.confidence);
    object.add_number("end", offset_s + word.end_s);
    object.add_number("start", offset_s + word.start_s);
    object.add_text("word", std::string(word.text));
    objects->push_back(object.close());
  }
}

void append_words(const std::vector<Heard> &finals, size_t depth, std::vector<std::string> *objects) {
  for (const Heard &final : finals) {
    if (is_heard(final.event)) append_words(final.event.words(), final.offset_s, depth, objects);
  }
}

struct Choice {
  std::string text;
  double confidence = 0;  // mean of the words'
  std::vector<std::string> words;
};

constexpr size_t kChoiceDepth = 3, kChoiceWordDepth = 5;  // within "alternatives"

// Collects the confidences of a choice's words.
class MeanConfidence {
 public:
  void add(const Words &words) {
    for (const Word &word : words) {
      if (word.confidence < 0) continue;
      sum_ += word.confidence;
      ++n_;
    }
  }
  double value() const { return n_ > 0 ? sum_ / n_ : 0; }

 private:
  double sum_ = 0;
  int n_ = 0;
};

// Returns the alternatives of one utterance; several that have ended at once have one, the best words of all.
std::vector<Choice> choices_of(const std::vector<Heard> &finals, const ResultOptions &options) {
  std::vector<const Heard *> heard;
  for (const Heard &final : finals) {
    if (is_heard(final.event)) heard.push_back(&final);
  }
  std::vector<Choice> choices;
  if (heard.size() == 1) {
    for (const Alternative &alternative : heard[0]->event.alternatives()) {
      if (choices.size() >= static_cast<size_t>(options.max_alternatives)) break;
      MeanConfidence mean;
      mean.add(alternative.words());
      choices.push_back({std::string(alternative.text()), mean.value(), {}});
      if (options.words) append_words(alternative.words(), heard[0]->offset_s, kChoiceWordDepth, &choices.back().words);
    }
    return choices;
  }
  if (heard.empty()) {
    choices.push_back({unheard_text(finals), 0, {}});
    return choices;
  }
  MeanConfidence mean;
  for (const Heard *each : heard) mean.add(each->event.words());
  choices.push_back({text_of(finals), mean.value(), {}});
  if (options.words) append_words(finals, kChoiceWordDepth, &choices.back().words);
  return choices;
}

std::string escaped(const std::string &text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string nlsml_of(const std::vector<Choice> &choices) {
  std::string xml = "<?xml version=\"1.0\"?>\n<result grammar=\"default\">\n";
  for (const Choice &choice : choices) {
    const std::string confidence = nlohmann::json(choice.confidence).dump();
    if (choice.text.empty()) {
      xml += "<interpretation confidence=\"" + confidence + "\">\n<instance/>\n<input><noinput/></input>\n";
    } else {
      xml += "<interpretation grammar=\"default\" confidence=\"" + confidence + "\">\n<input mode=\"speech\">" +
             escaped(choice.text) + "</input>\n<instance>" + escaped(choice.text) + "</instance>\n";
    }
    xml += "</interpretation>\n";
  }
  return xml + "</result>\n";
}

std::string alternatives_of(const std::vector<Choice> &choices) {
  std::vector<std::string> objects;
  for (const Choice &choice : choices) {
    Layout object(kChoiceDepth);
    object.add_number("confidence", choice.confidence);
    if (!choice.words.empty()) object.add("result", list_of(choice.words));
    object.add_text("text", choice.text);
    objects.push_back(object.close());
  }
  Layout result(1);
  result.add("alternatives", list_of(objects));
  return result.close();
}

}  // namespace

std::string result_of(const std::vector<Heard> &finals, const ResultOptions &options) {
  if (options.max_alternatives > 0) {
    const std::vector<Choice> choices = choices_of(finals, options);
    return options.nlsml ? nlsml_of(choices) : alternatives_of(choices);
  }
  Layout result(1);
  std::vector<std::string> words;
  if (options.words) append_words(finals, 3, &words);
  if (!words.empty()) result.add("result", list_of(words));
  const std::string text = text_of(finals);
  result.add_text("text", text.empty() ? unheard_text(finals) : text);
  return result.close();
}

std::string partial_result_of(const std::vector<Heard> &finals, const Heard &partial, const ResultOptions &options) {
  std::string text = text_of(finals);
  const bool is_going_on = is_heard(partial.event);
  if (is_going_on) text += (text.empty() ? "" : " ") + std::string(partial.event.text());
  Layout result(1);
  result.add_text("partial", text);
  std::vector<std::string> words;
  if (options.partial_words) {
    append_words(finals, 3, &words);
    if (is_going_on) append_words(partial.event.words(), partial.offset_s, 3, &words);
  }
  if (!words.empty()) result.add("partial_result", list_of(words));
  return result.close();
}

}  // namespace senone::vosk
