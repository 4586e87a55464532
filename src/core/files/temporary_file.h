// Manages a name that must not outlive the process: it is removed when it is not needed, and by the
// signal handler of a program that ends.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

// The name is removed by the destructor, unless the file has got its final name by then. Making the
// file is up to the caller.
class TemporaryName {
 public:
  explicit TemporaryName(std::string path);
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  ~TemporaryName();

  const std::string& path() const noexcept { return path_; }
  // It has another name now, or was never made.
  void forget() noexcept;

 private:
  std::string path_;
  char* listed_ = nullptr;  // the name that a signal handler uses
};

// Where a chain of symbolic links ends, whether or not anything is there yet, so that the link
// itself stays a link when a file is replaced. Throws Error naming `path` for a circle of links.
std::string follow_links(const std::string& path);

// Returns a name in the folder of `target` that no other part of this process makes, and that is
// short even if the final name has the largest length. Another process may use it: make the file
// with O_EXCL.
std::string temporary_beside(const std::string& target);

// Returns whether digits are the number of a process that has ended: its files may be removed.
bool is_ended_process(std::string_view digits) noexcept;

}  // namespace sextant
