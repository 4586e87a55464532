// Folders and links that survive a kill and a power cut: each function is one step that is done or
// not done, and is on the disk when it returns.
#pragma once

#include <string>

namespace sextant {

// All throw Error(path, reason).
void make_folder(const std::string& path);  // with its parents; may exist
void add_folder(const std::string& path);   // without: what is above it is there
void sync_file(const std::string& path);    // the bytes of a file
void sync_folder(const std::string& path);  // the names in a folder
void rename_folder(const std::string& from, const std::string& to);
// path leads to `target`, a name beside it, and led to the old one until now. Uses path + ".tmp".
void replace_link(const std::string& path, const std::string& target);
// What is left of a folder goes, as far as possible.
void remove_folder(const std::string& path) noexcept;

// Holds a folder against other processes, until it is destroyed or the process ends. Throws Error
// when another one holds it.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  // Where the folder is now: `path` while it leads there, else, of a folder that was moved or is
  // seen from another working directory, what the system calls it. Throws Error where it is gone.
  std::string find(const std::string& path) const;

 private:
  int descriptor_;
};

}  // namespace sextant
