// The program's numbers for the lesson: all steps of attention of a sentence, and the angles of rotations and addresses.
'use strict';

(() => {
  const explorer = globalThis.explorer;
  const kWidth = 8, kHeads = 2, kSeed = 9;
  const answers = new Map();

  // The JSON of a command, which runs only once.
  explorer.ask = (...args) => {
    const name = args.join('\n');
    if (!answers.has(name)) {
      answers.set(name, explorer.engine.run(args).then((answer) => {
        if (answer.code === 0) return JSON.parse(answer.out);
        answers.delete(name);
        throw new Error(explorer.problem(answer));
      }));
    }
    return answers.get(name);
  };

  explorer.lesson_args = (scheme, text, causal = false) => ['attend', '--scheme', scheme, '--split', 'spaces', '--width', String(kWidth), '--heads', String(kHeads), '--seed', String(kSeed),
    ...(causal ? ['--causal'] : []), '--step', 'all', '--json', '--', text];

  explorer.lesson_steps = async (scheme, text, causal = false) => {
    const kind = (await explorer.schemes()).find(({name}) => name === scheme).kind;
    const steps = await explorer.ask(...explorer.lesson_args(scheme, text, causal));
    const angles = (channels) => explorer.ask('encode', '--scheme', 'rotary', '--dtype', 'float64', '--length', String(steps.queries.length), '--head-dim', String(channels), '--json');
    if (kind === 'added') return {...steps, kind, frequencies: (await angles(kWidth)).inv_freq};
    if (kind !== 'rotated') return {...steps, kind};
    const table = await angles(kWidth / kHeads);
    return {...steps, kind, frequencies: table.inv_freq, rotation: table.values};
  };

  // The included results: a file of the page's data.
  explorer.lengths_data = async () => {
    const bytes = Uint8Array.from(atob(globalThis.sextant_data['extrapolation/results.json']), (one) => one.charCodeAt(0));
    return JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text());
  };

  // The toy model of `compare --lab`; its steps begin with scores and values.
  explorer.toy_steps = ({tokens, scores, weights, values, output}) => ({queries: tokens, keys: tokens, kind: 'none',
    leaf: 'Three matrices of the toy model compute its scores and values, as step 5 explains. Its width is 3, its seed 2311.',
    steps: {scores: [scores.map((row) => row.map((value) => value < -1e38 ? null : value))], weights: [weights], v: [values], mixed: [output]}});
})();
