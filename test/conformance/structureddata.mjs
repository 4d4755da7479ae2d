// Judges JSON-LD blocks with tools that others wrote, without a network.
//
// stdin:  {"context": {…}, "blocks": {"name": {…}, …}}
// stdout: {"name": ["what is wrong", …], …}, only blocks with faults
//
//   jsonld      expands each block in safe mode: what the context does not
//               define, relative types and the like are errors. The context is
//               answered for https://schema.org; nothing else is loaded.
//   schema-dts  types each block as the types of schema.org: unknown
//               properties, properties of other types and values of wrong types
//               are errors of the TypeScript compiler.
//
// ACE_NODE_MODULES is the folder that they are installed in.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const require = createRequire(join(process.env.ACE_NODE_MODULES, 'x.js'));
const jsonld = require('jsonld');
const ts = require('typescript');

const { context, blocks } = JSON.parse(readFileSync(0, 'utf8'));
const faults = {};
const blame = (name, text) => (faults[name] ??= []).push(text);

const documentLoader = async (url) => {
  if (url.replace(/\/$/, '') !== 'https://schema.org') throw new Error(`nothing is loaded from ${url}`);
  return { contextUrl: null, documentUrl: url, document: { '@context': context } };
};
for (const [name, block] of Object.entries(blocks)) {
  try {
    const expanded = await jsonld.expand(block, { safe: true, documentLoader });
    if (expanded.length === 0) blame(name, 'jsonld: the block says nothing');
    await jsonld.toRDF(block, { safe: true, documentLoader });
  } catch (e) {
    blame(name, `jsonld: ${e.message} ${JSON.stringify(e.details?.event ?? {}).slice(0, 300)}`);
  }
}

const file = join(dirname(process.env.ACE_NODE_MODULES), 'blocks.ts');
const places = [];
let source = "import type { Graph } from 'schema-dts';\n";
for (const [i, [name, block]] of Object.entries(blocks).entries()) {
  places.push({ name, from: source.length });
  source += `export const block${i}: Graph = ${JSON.stringify(block)};\n`;
}
const options = {
  strict: true, noEmit: true, skipLibCheck: true, types: [],
  module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2022,
};
const host = ts.createCompilerHost(options);
const { getSourceFile, fileExists } = host;
host.getSourceFile = (name, ...rest) => (name === file ? ts.createSourceFile(name, source, options.target) : getSourceFile.call(host, name, ...rest));
host.fileExists = (name) => name === file || fileExists.call(host, name);
for (const d of ts.getPreEmitDiagnostics(ts.createProgram([file], options, host))) {
  const at = places.findLast((p) => p.from <= (d.start ?? 0)) ?? { name: 'all' };
  blame(at.name, `schema-dts: ${ts.flattenDiagnosticMessageText(d.messageText, ' ').slice(0, 500)} at ${source.slice(d.start, (d.start ?? 0) + 80)}`);
}
process.stdout.write(JSON.stringify(faults));
