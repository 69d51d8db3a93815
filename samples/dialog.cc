// SPDX-License-Identifier: Apache-2.0
// dialog BUNDLE DICTIONARY ANSWER...: a spoken dialog with a receptionist, with one grammar per turn. BUNDLE has a model that
// graphs can be built for, DICTIONARY its words in lower case (CMU Sphinx). Each ANSWER is a recording (16-bit mono samples at
// the model's rate) of the visitor. Here the visitor always answers before the prompt has ended (barge-in).
//
//     c++ -std=c++17 dialog.cc $(pkg-config --cflags --libs senone senone_build) -o dialog
//     dialog en-us cmudict-en-us.dict go.raw spelled-name.raw number.raw yes.raw
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <mutex>
#include <senone.hpp>
#include <senone_build.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr double kPromptCharactersPerSecond = 15, kSilenceSeconds = 1.5;

const char kStart[] =
    "#JSGF V1.0;\ngrammar start;\npublic <start> = [please] (go | start | begin) {go} | help {help} | (stop | quit) {stop};\n";
const char kName[] = "#JSGF V1.0;\ngrammar name;\npublic <name> = [my name is] $visitor;\n";
const char kBadge[] =
    "#JSGF V1.0;\ngrammar badge;\n"
    "<digit> = (zero | oh) {0} | one {1} | two {2} | three {3} | four {4} | five {5} | six {6} | seven {7} | eight {8} | nine "
    "{9};\n"
    "public <badge> = [number] <digit>+;\n";
const char kRight[] = "#JSGF V1.0;\ngrammar right;\npublic <right> = yes [please] {yes} | no [thanks] {no};\n";
const char kVisitors[] = "c i n d y {Cindy}\nd a v i d {David}\n", kLateVisitors[] = "a l a n {Alan}\n";

class Dialog {
 public:
  Dialog(const std::string &bundle, const std::string &dictionary) : engine_(bundle), builder_(bundle) {
    builder_.add_lexicon(dictionary);
    builder_.set_class("visitor", kVisitors);
    name_ = builder_.jsgf(kName);
    engine_.add_graph_bytes("start", builder_.jsgf(kStart).bytes());
    engine_.add_graph_bytes("name", name_.bytes());
    engine_.add_graph_bytes("badge", builder_.jsgf(kBadge).bytes());
    engine_.add_graph_bytes("right", builder_.jsgf(kRight).bytes());
    senone::StreamConfig config;
    config.endpoint = ASR_ENDPOINT_COMMAND;
    config.graph = "start";
    stream_ = engine_.open(config, [this](senone::StreamView, senone::Event event) { take(event); });
    ask("start", "Welcome. Say go to check in.", 0);
  }

  // Feeds an answer and waits for the receptionist's reaction. After the last one the visitor hangs up. False once the dialog
  // has ended.
  bool answer(const char *path, bool is_last) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(std::string(path) + ": cannot be opened");
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const double rate_hz = engine_.info().sample_rate_hz;
    const std::size_t n_silent = is_last ? 0 : static_cast<std::size_t>(kSilenceSeconds * rate_hz);
    std::vector<std::int16_t> samples(bytes.size() / 2 + n_silent);
    bytes.copy(reinterpret_cast<char *>(samples.data()), bytes.size() / 2 * 2);
    std::unique_lock lock(mutex_);
    was_answered_ = false;
    lock.unlock();
    stream_.feed(samples);
    if (is_last) stream_.finish();  // the reaction to the last words still comes, and may choose a graph
    lock.lock();
    answered_.wait_for(lock, std::chrono::seconds(30), [&] { return was_answered_; });
    return !has_ended_;
  }

 private:
  // The callback: runs on a thread of the engine, one event at a time.
  void take(const senone::Event &event) {
    const std::lock_guard lock(mutex_);
    if (event.kind() == senone::EventKind::kEnd) {
      was_answered_ = has_ended_ = true;
      return answered_.notify_all();
    }
    if (event.kind() == senone::EventKind::kSpeechStart && event.time_s() < prompt_end_s_) {
      std::printf("   (%.1f s: the visitor interrupts, the prompt stops)\n", event.time_s());
    }
    if (event.kind() != senone::EventKind::kFinal || event.text().empty() || has_ended_) return;
    const bool rejected = (event.flags() & ASR_FLAG_REJECTED) != 0;
    std::printf("<- %s%s\n", std::string(event.text()).c_str(), rejected ? "  (rejected: something else was said)" : "");
    std::string meaning(rejected ? "" : event.alternatives()[0].tags());  // one line per tag
    meaning.erase(std::remove(meaning.begin(), meaning.end(), '\n'), meaning.end());
    react(meaning, event.time_s());
    was_answered_ = true;
    answered_.notify_all();
  }

  void react(const std::string &meaning, double now_s) {
    if (turn_ == "start" && meaning == "stop") return end("Goodbye.");
    if (turn_ == "start" && meaning == "go") return ask("name", "Please spell your first name.", now_s);
    if (turn_ == "name" && meaning.empty()) return announce(now_s);
    if (turn_ == "name") {
      visitor_ = meaning;
      return ask("badge", visitor_ + ", what is the number of your badge?", now_s);
    }
    if (turn_ == "badge" && !meaning.empty())
      return ask("right", visitor_ + " with badge " + meaning + ". Is that right?", now_s);
    if (turn_ == "right" && meaning == "yes") return end("Thank you. The door is open.");
    if (turn_ == "right" && meaning == "no") return ask("name", "Let us try again. Please spell your first name.", now_s);
    ask(turn_, "I did not understand. " + prompt_, now_s);
  }

  // Changes the list of visitors without compiling the grammar again.
  void announce(double now_s) {
    builder_.add_to_class("visitor", kLateVisitors);
    name_ = builder_.build_again(name_);
    engine_.add_graph_bytes("name", name_.bytes());
    ask("name", "I do not find you; the list is new now. Please spell your first name.", now_s);
  }

  void ask(const std::string &turn, const std::string &prompt, double now_s) {
    std::printf("-> %s\n", prompt.c_str());
    turn_ = turn;
    prompt_ = prompt.substr(prompt.rfind(". ") == std::string::npos ? 0 : prompt.rfind(". ") + 2);
    prompt_end_s_ = now_s + static_cast<double>(prompt.size()) / kPromptCharactersPerSecond;
    stream_.set_graph(turn);  // applies to audio fed from now on
  }

  void end(const char *prompt) {
    std::printf("-> %s\n", prompt);
    has_ended_ = true;
  }

  senone::Engine engine_;
  senone::GrammarBuilder builder_;
  senone::Grammar name_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::string turn_, prompt_, visitor_;
  double prompt_end_s_ = 0;
  bool was_answered_ = false, has_ended_ = false;
  senone::Stream stream_;  // last member: closed first, since its events use the others
};

}  // namespace

int main(int argc, char **argv) try {
  if (argc < 4) {
    std::fprintf(stderr, "usage: dialog BUNDLE DICTIONARY ANSWER...\n");
    return 2;
  }
  Dialog dialog(argv[1], argv[2]);
  for (int i = 3; i < argc && dialog.answer(argv[i], i + 1 == argc); ++i) {
  }
} catch (const std::exception &error) {
  std::fprintf(stderr, "dialog: %s\n", error.what());
  return 1;
}
