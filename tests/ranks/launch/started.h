// A command on ranks that is under way, whose processes can be told to end.
#pragma once

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "ranks/launch/launch.h"
#include "sextant/core/files.h"

namespace sextant::ranks {

class Started {
 public:
  // `command` has no single quotes. In `folder`: the number of each process.
  Started(int count, const std::string& command, const std::string& folder) : folder_(folder) {
    const std::string shell = "sh -c 'echo $$ > " + folder +
                              "/process.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec " + command + "'";
    launcher_ = std::thread([this, count, shell] { ended_ = launch(count, shell); });
  }
  ~Started() {
    if (launcher_.joinable()) launcher_.join();
  }

  // Until the file has something in it: at most 30 s.
  bool wait_for(const std::string& file) const {
    std::error_code none;
    for (int i = 0; i < 3000; ++i) {
      const auto size = std::filesystem::file_size(file, none);
      if (!none && size > 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  void tell(int rank, int signal) const {
    ::kill(std::stoi(read_file(folder_ + "/process." + std::to_string(rank))), signal);
  }
  const Ended& end() {
    launcher_.join();
    return ended_;
  }

 private:
  std::string folder_;
  Ended ended_;
  std::thread launcher_;
};

inline int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace sextant::ranks
