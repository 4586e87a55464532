// Opens the reader's model folder, and makes the Python and C++ code that uses a model.
'use strict';

(() => {
  const explorer = globalThis.explorer, {models} = explorer;
  const kMostBytes = 5e8;
  const kWanted = /^(?!.*\boptimiser\.safetensors$).*\.(json|safetensors|model)$/;
  const kCheckpoint = /^(|.*\/)checkpoint-(\d{9,})\/training\.json$/;
  // `sextant train` prints the same sentence after it has saved a model (explorer_line() in train_report.cc).
  explorer.kOpens = 'The explorer opens causal models and translators of characters, or of words between white space (--no-split-punctuation).';

  const kOther = /masked|ICU|SentencePiece/;

  // Finds the folder of the model among [path, File] pairs: '' or a path with a slash at its end, null if there is none. In a run's folder `best` and `last`
  // are links, which browsers omit, but the last checkpoint names the best one.
  explorer.model_base = async (files) => {
    const has = (base) => files.some(([path]) => path === base + 'config.json');
    const depth = (path) => path.split('/').length;
    const bases = files.map(([path]) => path).filter((path) => /(^|\/)config\.json$/.test(path)).map((path) => path.slice(0, -'config.json'.length))
      .sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
    const best = bases.find((base) => /(^|\/)best\/$/.test(base));
    if (best !== undefined || bases.length === 0) return best ?? null;
    const run = /^(|.*\/)checkpoint-\d{9,}\/$/.exec(bases[0])?.[1];
    const steps = files.map(([path, file]) => [kCheckpoint.exec(path), file]).filter(([found]) => found && found[1] === run).sort(([a], [b]) => b[2] - a[2]);
    for (const [found, file] of steps) {
      const of_step = (step) => `${run}checkpoint-${String(step).padStart(9, '0')}/`;
      const {best_step} = JSON.parse(await file.text());
      for (const step of [best_step, found[2]]) if (has(of_step(step))) return of_step(step);
    }
    return bases[0];
  };

  // Takes the files, without the folders that all of them share. Returns a promise of an error text, or ''.
  explorer.load_model_folder = async (files) => {
    const wanted = files.filter(([path]) => kWanted.test(path));
    const base = await explorer.model_base(wanted);
    if (base === null) {
      return wanted.some(([path]) => /(^|\/)run\.json$/.test(path))
        ? 'This is the folder of a run. The browser does not list its models, because best and last are links: drop the folder here, or choose a checkpoint folder in it.'
        : 'The folder must have a config.json, a model.safetensors and a tokenizer.json.';
    }
    const inside = wanted.filter(([path]) => path.startsWith(base));
    const bytes = inside.reduce((sum, [, file]) => sum + file.size, 0);
    if (bytes > kMostBytes) return `It must be at most ${kMostBytes / 1e6} MB, got ${(bytes / 1e6).toFixed(0)} MB.`;
    const read = await Promise.all(inside.map(async ([path, file]) => [path.slice(base.length), new Uint8Array(await file.arrayBuffer())]));
    const shown = base.replace(/\/$/, '') || 'model';
    models.add('own', {title: `your folder ${shown}`, shown, files: Object.fromEntries(read)});
    const info = await models.info('own');
    if (!info.problem && info.config.kind !== 'masked') return '';
    const problem = info.problem ? info.problem.replaceAll(models.folder('own'), shown) : 'It is a masked language model.';
    models.forget('own');
    return kOther.test(problem) ? `${problem.replace(/\.?$/, '.')} ${explorer.kOpens}` : problem;
  };

  explorer.model_code = (name, info, text, options, off) => {
    const quoted = JSON.stringify(text), path = JSON.stringify(models.shown(name)), shipped = name === 'shipped';
    if (off) return {};  // only the command can do it
    if (info.config.kind === 'translator') {
      return {
        python: `import sextant\nmodel = ${shipped ? 'sextant.shipped()' : `sextant.load(${path})`}\nprint(model.translate(${quoted}))`,
        cpp: `const ${shipped ? 'sextant::TextTranslator& model = sextant::dates_translator()' : `auto model = sextant::TextTranslator::load(${path})`};\n` +
          `std::cout << sextant::translate(model, ${quoted}) << '\\n';\nconst auto predictions = sextant::logit_lens(model, ${quoted});`};
    }
    const {temperature, seed} = options, tokens = options['max-tokens'], top_k = options['top-k'];
    return {
      python: `import sextant\nmodel = sextant.load(${path})\nprint(model.generate(${quoted}, max_tokens=${tokens}, temperature=${temperature}, top_k=${top_k}, seed=${seed}))`,
      cpp: `const auto model = sextant::TextModel::load(${path});\nsextant::GenerateOptions options{.max_tokens = ${tokens}, .seed = ${seed}};\n` +
        `options.sampling = {.temperature = ${temperature}, .top_k = ${top_k}};\nstd::cout << sextant::generate(model, ${quoted}, options) << '\\n';`};
  };
})();
