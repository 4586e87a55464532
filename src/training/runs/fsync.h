// Folders and links that survive a kill and a power cut: each function is one step that is done or
// not done, and is on the disk when it returns.
#pragma once

#include <string>

namespace sextant {

// All throw Error(path, reason).
void make_folder(const std::string& path);  // with its parents; may exist
void add_folder(const std::string& path);   // without: its parent folder must exist
void sync_file(const std::string& path);    // the bytes of a file
void sync_folder(const std::string& path);  // the names in a folder
void rename_folder(const std::string& from, const std::string& to);
// Makes path a link to `target`, a name in the same folder, instead of the old one. Uses path +
// ".tmp".
void replace_link(const std::string& path, const std::string& target);
// Removes the rest of a folder, as far as possible.
void remove_folder(const std::string& path) noexcept;

// Holds a folder against other processes, until it is destroyed or the process ends. Throws Error
// when another one holds it.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  // Returns the current path of the folder: `path` while it leads there, else, for a folder that
  // was moved or is seen from another working directory, the system's path. Throws Error if it was
  // removed.
  std::string find(const std::string& path) const;

 private:
  int descriptor_;
};

}  // namespace sextant
