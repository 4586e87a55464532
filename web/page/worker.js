// Runs commands of the program, one at a time. A message {id, args, files, packed, read, pick, lines, watch} is answered by
// {id, code, out, err, files, picked}: `files` of the message (bytes, or Files of the disk) are written before the command, those named in
// `read` are read after it. For long JSON `pick` names the wanted fields, "first.tokens"; they are returned in
// `picked`, and `out` is empty. `packed` files are gzip as base64. While the command runs, {id, progress} has a line of
// its stderr, {id, line} a line of its stdout, {id, folder} the files of the folder `watch`, a link, after a change.
'use strict';

let program = null;  // a promise of the module
let current = null;  // the running command: {id, out, err, lines, watch}

async function unpack(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function start(base64) {
  return sextant_program({
    wasmBinary: await unpack(base64),
    stdin: () => null,
    print: (line) => {
      if (!current) return;
      if (current.lines) postMessage({id: current.id, line});
      else current.out += line + '\n';
      if (current.watch !== '') current.look();
    },
    printErr: (line) => {
      if (!current) return;
      const plain = line.replace(/\r?\x1b\[K/g, '').trim();
      if (plain === '') return;
      current.err += plain + '\n';
      postMessage({id: current.id, progress: plain});
    },
  });
}

function pick_from(json, paths) {
  const picked = {};
  for (const path of paths) {
    const names = path.split('.'), last = names.pop();
    let from = json, to = picked;
    for (const name of names) {
      from = from[name];
      to = to[name] ??= {};
    }
    to[last] = from[last];
  }
  return picked;
}

// The files of the folder that a link points to, if its target has changed.
function watcher(module, id, path) {
  let seen = '';
  return () => {
    let target;
    try { target = module.FS.readlink(path); } catch (absent) { return; }
    if (target === seen) return;
    seen = target;
    const names = module.FS.readdir(path).filter((name) => /\.(json|safetensors)$/.test(name));
    postMessage({id, folder: Object.fromEntries(names.map((name) => [name, module.FS.readFile(path + '/' + name)]))});
  };
}

function run(module, {id, args, files = {}, read = [], pick = [], lines = false, watch = ''}) {
  current = {id, out: '', err: '', lines, watch, look: watcher(module, id, watch)};
  let code;
  try {
    for (const [name, bytes] of Object.entries(files)) {
      module.FS.mkdirTree(name.slice(0, name.lastIndexOf('/')) || '/');
      module.FS.writeFile(name, bytes, {canOwn: true});
    }
    code = module.callMain(args);
  } catch (problem) {
    code = 70;
    current.err += 'sextant: ' + (problem && problem.message || String(problem)) + '\n';
  }
  const found = {};
  for (const name of read) {
    try {
      found[name] = module.FS.readFile(name, {encoding: 'utf8'});
      module.FS.unlink(name);
    } catch (missing) { /* the command has said why */ }
  }
  const {out, err} = current, memory = module.HEAPU8.length;
  current = null;
  const picked = pick.length > 0 && code === 0 ? pick_from(JSON.parse(out), pick) : undefined;
  postMessage({id, code, out: picked ? '' : out, err, files: found, memory, picked});
}

onmessage = async ({data}) => {
  if (data.wasm !== undefined) {
    program = start(data.wasm);
    program.then(() => postMessage({ready: true}), (problem) => postMessage({broken: String(problem)}));
    return;
  }
  const files = {...data.files};
  try {
    for (const [name, text] of Object.entries(data.packed || {})) files[name] = await unpack(text);
    for (const [name, file] of Object.entries(files)) {
      if (file instanceof Blob) files[name] = new Uint8Array(await file.arrayBuffer());
    }
  } catch (problem) {
    return postMessage({id: data.id, code: 70, out: '', err: `sextant: a file cannot be read: ${problem.message}\n`, files: {}, memory: 0});
  }
  run(await program, {...data, files});
};
