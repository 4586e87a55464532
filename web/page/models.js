// The trained models of the page: the one in the program, those included in the page, the reader's folder, and models
// trained in the page. Their files are copied into a worker's file system when it first needs them.
'use strict';

(() => {
  const explorer = globalThis.explorer;
  const kMissing = /must be a model's folder/;
  const known = new Map();   // by name: {title, shown, folder, files, packed}
  const sent = new WeakMap();  // by engine: the models that its worker has

  known.set('shipped', {title: 'translator of dates', folder: 'shipped', shown: 'shipped', files: {}, packed: {}});

  // The files of the page's data whose names begin with a prefix, as a folder of the worker, which unpacks them (gzip as base64).
  const packed_files = (prefix, folder) => Object.fromEntries(Object.entries(globalThis.sextant_data || {})
    .filter(([name]) => name.startsWith(prefix)).map(([name, text]) => [folder + name.slice(prefix.length), text]));
  if (globalThis.sextant_data) {
    known.set('plays', {title: 'characters of Shakespeare\'s plays', folder: '/models/plays', shown: 'web/data/plays', files: {},
      packed: packed_files('plays/', '/models/plays/')});
  }

  const infos = new Map();  // by name: a promise of `sextant info --model`
  explorer.models = {
    names: () => [...known.keys()],
    has: (name) => known.has(name),
    title: (name) => known.get(name).title,
    folder: (name) => known.get(name).folder,
    shown: (name) => known.get(name).shown,
    // `files`: paths in the folder, and bytes, or Files of the disk, which the worker reads.
    add(name, {title, shown, files}) {
      const folder = `/models/${name}-${(explorer.models.count = (explorer.models.count || 0) + 1)}`;
      known.set(name, {title, shown, folder, packed: {},
        files: Object.fromEntries(Object.entries(files).map(([path, bytes]) => [folder + '/' + path, bytes]))});
      infos.delete(name);
    },
    forget(name) { known.delete(name); infos.delete(name); },
    // explorer.engine.run() in a worker that has the model's folder.
    async run(name, args, options = {}, engine = explorer.engine) {
      if (!sent.has(engine)) sent.set(engine, new Set());
      const model = known.get(name), has = sent.get(engine);
      const ask = (with_files) => engine.run(args, with_files ? {...options, files: {...options.files, ...model.files}, packed: model.packed} : options);
      const fresh = !has.has(model.folder);
      const answer = await ask(fresh);
      if (answer.stale || answer.code === 130) return answer;
      has.add(model.folder);
      // A worker that was stopped has restarted without files.
      return answer.code !== 0 && !fresh && kMissing.test(answer.err) ? ask(true) : answer;
    },
    // The program's description of the model; {problem} if it is broken.
    info(name) {
      if (!infos.has(name)) {
        infos.set(name, explorer.models.run(name, ['info', '--model', known.get(name).folder, '--json'])
          .then((answer) => answer.code === 0 ? JSON.parse(answer.out) : {problem: explorer.problem(answer)}));
      }
      return infos.get(name);
    },
  };
})();
