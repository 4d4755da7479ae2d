// Compiles contracts.sol into contracts.json. The tests need only the result;
// the compiler (npm install solc@0.8.37) is needed to change it.
//
//   node compile.mjs FOLDER_WITH_NODE_MODULES
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const solc = createRequire(join(process.argv[2], 'x.js'))('solc');
const here = import.meta.dirname;
const input = {
  language: 'Solidity',
  sources: { 'contracts.sol': { content: readFileSync(join(here, 'contracts.sol'), 'utf8') } },
  settings: {
    optimizer: { enabled: true, runs: 200 }, evmVersion: 'cancun', metadata: { bytecodeHash: 'none', appendCBOR: false },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
  },
};
const output = JSON.parse(solc.compile(JSON.stringify(input)));
const faults = (output.errors ?? []).filter((e) => e.severity === 'error');
if (faults.length > 0) throw new Error(faults.map((e) => e.formattedMessage).join('\n'));
const contracts = {};
for (const [name, c] of Object.entries(output.contracts['contracts.sol'])) {
  contracts[name] = { abi: c.abi, bytecode: '0x' + c.evm.bytecode.object, code: '0x' + c.evm.deployedBytecode.object };
}
writeFileSync(join(here, 'contracts.json'), JSON.stringify(contracts, null, 1) + '\n');
