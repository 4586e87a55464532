// A place for files: dropped on it, or chosen by its button.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;

  async function files_of(entry, path) {
    if (entry.isFile) return [[path + entry.name, await new Promise((resolve, reject) => entry.file(resolve, reject))]];
    const reader = entry.createReader(), found = [];
    for (;;) {  // a reader gives a hundred entries at a time
      const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (entries.length === 0) break;
      for (const one of entries) found.push(...await files_of(one, path + entry.name + '/'));
    }
    return found;
  }

  async function dropped(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry()).filter((entry) => entry);
    if (entries.length === 0) return [...transfer.files].map((file) => [file.name, file]);
    const found = [];
    for (const entry of entries) found.push(...await files_of(entry, ''));
    return found;
  }

  // `take` gets [path, File] pairs and returns a promise of what is wrong with them, or ''.
  explorer.drop_place = ({label, help, folder = false, accept = '', take}) => {
    const input = make('input', {type: 'file', webkitdirectory: folder, multiple: folder, accept: accept || null});
    const field = explorer.field(label, input, help);
    field.classList.add('drop');
    async function got(files) {
      explorer.say_beside(field, '');
      try {
        explorer.say_beside(field, files.length === 0 ? 'There is no file in it.' : await take(files));
      } catch (problem) {
        explorer.say_beside(field, 'It cannot be read: ' + problem.message);
      }
    }
    input.addEventListener('change', () => got([...input.files].map((file) => [file.webkitRelativePath || file.name, file])));
    field.addEventListener('dragover', (event) => { event.preventDefault(); field.classList.add('over'); });
    field.addEventListener('dragleave', () => field.classList.remove('over'));
    field.addEventListener('drop', (event) => {
      event.preventDefault();
      field.classList.remove('over');
      dropped(event.dataTransfer).then(got);
    });
    return field;
  };
})();
