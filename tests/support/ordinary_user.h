// Drops the superuser's privileges for a while, so that permissions are tested in containers too,
// where everything runs as root.
#pragma once

#include <unistd.h>

#include <stdexcept>
#include <string>

namespace sextant::tests {

// While it lives the process acts as `nobody`, to whom `folder` is given; nothing happens where the
// process is no superuser. The saved user stays the superuser, who comes back; so no child is
// needed, which a process with threads could not become safely.
class OrdinaryUser {
 public:
  explicit OrdinaryUser(const std::string& folder) : is_superuser_(::geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    if (!is_superuser_) return;
    if (::chown(folder.c_str(), kNobody, static_cast<gid_t>(-1)) != 0 ||
        ::setresuid(kNobody, kNobody, 0) != 0) {
      throw std::runtime_error("privileges cannot be dropped");
    }
  }
  ~OrdinaryUser() {
    if (is_superuser_ && ::setresuid(0, 0, 0) != 0) ::_exit(1);
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  bool is_superuser_;
};

}  // namespace sextant::tests
