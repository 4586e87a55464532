// node ask_program.js PROGRAM_FOLDER ARGS: `sextant ARGS` by the program of the page, for what the page needs before it runs.
'use strict';

const {readFileSync} = require('fs');
const [folder, ...args] = process.argv.slice(2);
const lines = [];
const sextant_program = new Function('require', '__dirname', '__filename',
  readFileSync(folder + '/sextant.js', 'utf8') + '\nreturn sextant_program;')(require, folder, '');

sextant_program({wasmBinary: readFileSync(folder + '/sextant.wasm'), print: (line) => lines.push(line)}).then((program) => {
  process.exitCode = program.callMain(args);
  process.stdout.write(lines.join('\n') + '\n');
});
