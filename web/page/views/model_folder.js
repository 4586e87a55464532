// A model folder that a reader brings, and the lines of Python and C++ that use a model.
'use strict';

(() => {
  const explorer = globalThis.explorer, {models} = explorer;
  const kMostBytes = 5e8;
  const kWanted = /\.(json|safetensors|model)$/;

  // The files, without the folders that all of them share. A promise of what is wrong, or ''.
  explorer.load_model_folder = async (files) => {
    const wanted = files.filter(([path]) => kWanted.test(path));
    const bytes = wanted.reduce((sum, [, file]) => sum + file.size, 0);
    if (bytes > kMostBytes) return `It must be at most ${kMostBytes / 1e6} MB, got ${(bytes / 1e6).toFixed(0)} MB.`;
    const configs = wanted.map(([path]) => path).filter((path) => /(^|\/)config\.json$/.test(path)).sort((a, b) => a.split('/').length - b.split('/').length);
    if (configs.length === 0) return 'It must have a config.json, a model.safetensors and a tokenizer.json.';
    const best = configs.find((path) => /(^|\/)best\/config\.json$/.test(path)) || configs[0];
    const base = best.slice(0, -'config.json'.length);
    const inside = wanted.filter(([path]) => path.startsWith(base));
    const read = await Promise.all(inside.map(async ([path, file]) => [path.slice(base.length), new Uint8Array(await file.arrayBuffer())]));
    const shown = base.replace(/\/$/, '') || 'model';
    models.add('own', {title: `your folder ${shown}`, shown, files: Object.fromEntries(read)});
    const info = await models.info('own');
    if (!info.problem && info.config.kind !== 'masked') return '';
    const problem = info.problem ? info.problem.replaceAll(models.folder('own'), shown) : 'It is a masked language model; this view shows translators and causal ones.';
    models.forget('own');
    return problem;
  };

  explorer.model_code = (name, info, text, options, off) => {
    const quoted = JSON.stringify(text), path = JSON.stringify(models.shown(name)), shipped = name === 'shipped';
    if (off) return {};  // the command shows it
    if (info.config.kind === 'translator') {
      return {
        python: `import sextant\nmodel = ${shipped ? 'sextant.shipped()' : `sextant.load(${path})`}\nprint(model.translate(${quoted}))`,
        cpp: `const ${shipped ? 'sextant::TextTranslator& model = sextant::dates_translator()' : `auto model = sextant::TextTranslator::load(${path})`};\n` +
          `std::cout << sextant::translate(model, ${quoted}) << '\\n';\nconst auto guesses = sextant::layer_guesses(model, ${quoted});`};
    }
    const {temperature, seed} = options, tokens = options['max-tokens'], top_k = options['top-k'];
    return {
      python: `import sextant\nmodel = sextant.load(${path})\nprint(model.generate(${quoted}, max_tokens=${tokens}, temperature=${temperature}, top_k=${top_k}, seed=${seed}))`,
      cpp: `const auto model = sextant::TextModel::load(${path});\nsextant::GenerateOptions options{.max_tokens = ${tokens}, .seed = ${seed}};\n` +
        `options.sampling = {.temperature = ${temperature}, .top_k = ${top_k}};\nstd::cout << sextant::generate(model, ${quoted}, options) << '\\n';`};
  };
})();
