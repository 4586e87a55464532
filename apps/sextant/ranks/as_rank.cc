// Checks what must be the same on all ranks, before anything is computed.
#include "ranks/as_rank.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "commands.h"
#include "options/arguments.h"
#include "options/file_arguments.h"
#include "sextant/ranks.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

// Nobody can leave MPI_Init, or a call that others never make: a thread ends the process.
class StartWatch {
 public:
  StartWatch() : thread_([this] { watch(); }) {}
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;
  ~StartWatch() {
    {
      const std::lock_guard lock(mutex_);
      started_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  static std::chrono::seconds limit() {
    constexpr std::int64_t kSeconds = 120, kMost = 86400;
    const char* text = std::getenv("SEXTANT_START_SECONDS");
    return std::chrono::seconds(
        text == nullptr ? kSeconds : parse_integer(text, "SEXTANT_START_SECONDS", 1, kMost));
  }

  void watch() {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, limit_, [this] { return started_; })) return;
    note(
        "[ranks] must all run the same command: other processes of the launcher have not joined "
        "in " +
        std::to_string(limit_.count()) +
        " s (they may run another program, or have ended; SEXTANT_START_SECONDS sets the time)");
    std::_Exit(1);
  }

  const std::chrono::seconds limit_ = limit();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false;
  std::thread thread_;
};

std::string value_of(CLI::Option& option) {
  if (option.count() == 0) return "nothing";
  const FileUse use = file_use(option);
  if (use == FileUse::reads) return "a file";  // nodes may have different copies
  std::string text;
  for (const std::string& value : option.results()) {
    const bool path = use == FileUse::writes && value != "-";
    text += (text.empty() ? "" : " ") +
            (path ? std::filesystem::absolute(value).lexically_normal().string() : value);
  }
  return text;
}

void compare(const ranks::Communicator& comm, CLI::App& command) {
  ranks::Agreement agreement;
  agreement.add("command", command.get_name());
  agreement.add("version", SEXTANT_VERSION);
  for (CLI::Option* option : command.get_options()) {
    const std::string name =
        option->get_lnames().empty() ? option->get_name() : option->get_lnames().front();
    if (name != "threads") agreement.add(command.get_name() + "." + name, value_of(*option));
  }
  agreement.check(comm);
}

}  // namespace

void as_rank(CLI::App& command, const std::function<int(const ranks::Communicator&)>& work,
             const std::function<std::string(const Error&)>& text_of) {
  int code = 0;
  {
    std::optional<StartWatch> watch(std::in_place);
    const ranks::Session session;
    const int rank = session.world().rank();
    try {
      compare(session.world(), command);
      watch.reset();
      code = work(session.world());
    } catch (const ranks::SharedError& error) {
      if (rank == 0) note(text_of(error));
      code = 1;
    } catch (const Error& error) {
      throw Error("rank " + std::to_string(rank), text_of(error));
    }
  }  // the ranks end together, for any code
  if (code != 0) throw EndWith{code};
}

}  // namespace sextant::app
