// A place for files, which are dropped on it or chosen with its button.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;

  // On a page from file:// Chromium reads dropped files only through handles; other browsers have only entries.
  async function files_of_handle(handle, path) {
    if (handle.kind === 'file') return [[path + handle.name, await handle.getFile()]];
    const found = [];
    for await (const one of handle.values()) found.push(...await files_of_handle(one, path + handle.name + '/'));
    return found;
  }

  async function files_of_entry(entry, path) {
    if (entry.isFile) return [[path + entry.name, await new Promise((resolve, reject) => entry.file(resolve, reject))]];
    const reader = entry.createReader(), found = [];
    for (;;) {  // a reader gives a hundred entries at a time
      const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (entries.length === 0) break;
      for (const one of entries) found.push(...await files_of_entry(one, path + entry.name + '/'));
    }
    return found;
  }

  // An item gives its files only until the event has been handled, so all are requested before any is read.
  async function dropped(transfer) {
    const items = [...transfer.items].filter((item) => item.kind === 'file'), files = [...transfer.files].map((file) => [file.name, file]);
    const asked = items.map((item) => item.getAsFileSystemHandle
      ? item.getAsFileSystemHandle().then((handle) => handle && files_of_handle(handle, ''))
      : item.webkitGetAsEntry?.() && files_of_entry(item.webkitGetAsEntry(), ''));
    const found = (await Promise.all(asked)).filter((list) => list);
    return found.length === 0 ? files : found.flat();
  }

  // `take` gets [path, File] pairs and returns a promise of an error text, '' if there is no error.
  explorer.drop_place = ({label, help, folder = false, accept = '', take}) => {
    const input = make('input', {type: 'file', webkitdirectory: folder, multiple: folder, accept: accept || null});
    const field = explorer.field(label, input, help);
    field.classList.add('drop');
    async function got(promise) {
      explorer.say_beside(field, '');
      try {
        const files = await promise;
        explorer.say_beside(field, files.length === 0 ? `It contains no file.${folder ? ' If it is a link, such as best and last of a run, choose the folder of the run.' : ''}` : await take(files));
      } catch (problem) {
        explorer.say_beside(field, problem.name === 'NotFoundError' && folder
          ? 'It cannot be read. If it is a link, such as best and last of a run, drop the folder of the run.' : 'It cannot be read: ' + problem.message);
      }
    }
    // For a chosen folder Chromium lists neither links nor their targets; its picker of handles gives the targets, as a drop does.
    if (folder && globalThis.showDirectoryPicker) {
      input.addEventListener('click', (event) => {
        event.preventDefault();
        globalThis.showDirectoryPicker().then((handle) => got(files_of_handle(handle, '')), (problem) => {
          if (problem.name !== 'AbortError') explorer.say_beside(field, 'It cannot be read: ' + problem.message);
        });
      });
    }
    input.addEventListener('change', () => got([...input.files].map((file) => [file.webkitRelativePath || file.name, file])));
    field.addEventListener('dragover', (event) => { event.preventDefault(); field.classList.add('over'); });
    field.addEventListener('dragleave', () => field.classList.remove('over'));
    field.addEventListener('drop', (event) => {
      event.preventDefault();
      field.classList.remove('over');
      got(dropped(event.dataTransfer));
    });
    return field;
  };
})();
