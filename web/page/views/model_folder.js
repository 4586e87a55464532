// Opens the reader's model folder, and makes the Python and C++ code that uses a model.
'use strict';

(() => {
  const explorer = globalThis.explorer, {models} = explorer;
  explorer.kMostMegabytes = 500;  // the program's memory has at most 2 GB
  const kWanted = /^(?!.*\boptimiser\.safetensors$).*\.(json|safetensors|model)$/;
  const kCheckpoint = /^(|.*\/)checkpoint-(\d{9,})\/training\.json$/;
  // `sextant train` prints the same sentence after it has saved a model (explorer_line() in train_report.cc).
  explorer.kOpens = 'The explorer opens models of characters, of words between white space (--no-split-punctuation) and of a tokenizer.json of Hugging Face.';

  const kOther = /ICU|SentencePiece/;

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
    if (bytes > 1e6 * explorer.kMostMegabytes) return `The model must be at most ${explorer.kMostMegabytes} MB, got ${Math.ceil(bytes / 1e6)} MB. The command line opens larger ones.`;
    const shown = base.replace(/\/$/, '') || 'model';
    models.add('own', {title: `your folder ${shown}`, shown, files: Object.fromEntries(inside.map(([path, file]) => [path.slice(base.length), file]))});
    const info = await models.info('own');
    if (!info.problem) return '';
    const problem = info.problem.replaceAll(models.folder('own'), shown);
    models.forget('own');
    return kOther.test(problem) ? `${problem.replace(/\.?$/, '.')} ${explorer.kOpens}` : problem;
  };

  explorer.model_code = (name, info, text, options, off) => {
    const quoted = JSON.stringify(text), path = JSON.stringify(models.shown(name)), shipped = name === 'shipped';
    if (off) return {};  // only the command can do it
    const kind = explorer.kind_of(info);
    if (kind === 'masked') {
      return {
        python: `import sextant\nmodel = sextant.load(${path})\nprint(model.fill(${quoted}).text)`,
        cpp: `const auto model = sextant::TextModel::load(sextant::open_model(${path}));\nstd::cout << sextant::fill_masks(model, ${quoted}).text << '\\n';`};
    }
    if (kind === 'encoder') {
      const lines = text.split('\n').map((line) => line.trim()).filter((line) => line !== '').map((line) => JSON.stringify(line)).join(', ');
      return {
        python: `import sextant\nmodel = sextant.load(${path})\nprint(model.embed([${lines}]))`,
        cpp: `const auto model = sextant::TextModel::load(sextant::open_model(${path}));\nconst std::vector<std::string> texts = {${lines}};\n` +
          'const auto vectors = sextant::sentence_vectors(model, texts).vectors;  // [texts, width]'};
    }
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
