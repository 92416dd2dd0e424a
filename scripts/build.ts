/**
 * Builds `dist/`:
 *
 * - The type declarations of every module. The npm package contains them, and the container image does not.
 * - The JavaScript in a few bundled files, because a process starts faster with few files.
 *
 * The entry points share chunks, so that each class exists only once. If a class existed twice, `instanceof` could return false for an
 * object of the package. Dependencies are not bundled, so that a user's program can share them with this package, and `npm audit` finds
 * them.
 *
 * `node scripts/build.ts [--out-dir dist] [--no-check]`; `--no-check` skips the type check.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Plugin } from '@rollup/wasm-node'
import { rollup } from '@rollup/wasm-node'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({
  options: { 'out-dir': { type: 'string', default: join(root, 'dist') }, 'no-check': { type: 'boolean', default: false } },
})
const outDir = resolve(values['out-dir'])
rmSync(outDir, { recursive: true, force: true })

const compiler = join(root, 'node_modules/typescript/bin/tsc')
const declarations = ['-p', 'tsconfig.build.json', '--outDir', outDir, ...(values['no-check'] ? ['--noCheck'] : [])]
const { status } = spawnSync(process.execPath, [compiler, ...declarations], { cwd: root, stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

const transpileOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  sourceMap: true,
  removeComments: true,
}

/** Removes the types from TypeScript modules, and converts JSON files to modules. */
const transpile: Plugin = {
  name: 'transpile',
  transform(code, fileName) {
    if (fileName.endsWith('.json')) return { code: `export default ${code}`, map: null }
    const { outputText, sourceMapText } = ts.transpileModule(code, { fileName, compilerOptions: transpileOptions })
    return { code: outputText, map: sourceMapText ?? null }
  },
}

const bundle = await rollup({
  input: {
    index: join(root, 'src/index.ts'),
    'testing/index': join(root, 'src/testing/index.ts'),
    'cli/bin': join(root, 'src/cli/bin.ts'),
    // The script of the worker threads. The chunk that starts a worker thread searches for this script in the folder of the chunk.
    'chunks/worker': join(root, 'src/webhook/evaluation/worker.ts'),
    // `proreus dev --watch` runs the operators in a separate process. These are the scripts of this process and of one of its threads.
    'chunks/operators-process': join(root, 'src/cli/watch/operators-process.ts'),
    'chunks/parent-guard': join(root, 'src/cli/watch/parent-guard.ts'),
    // `proreus dev --pods=process` runs the network of the Pods in a separate process.
    'chunks/network-agent-process': join(root, 'src/devcluster/pods/network/agent/network-agent-process.ts'),
    // The scripts for Pods that run as plain processes: the supervisor of the processes, and the program that prepares a terminal.
    'chunks/plain-supervisor': join(root, 'src/devcluster/pods/plain/plain-supervisor.ts'),
    'chunks/terminal-program': join(root, 'src/devcluster/pods/plain/terminal-program.ts'),
    // Proreus is outside of the networks of the cluster. A separate process inside such a network connects to the ports of Pods, and sends
    // the sockets to Proreus. This is the script of this process.
    'chunks/connector-process': join(root, 'src/devcluster/pods/namespaces/connector-process.ts'),
  },
  // The operators of this package import `proreus`. This import is not bundled. At run time, the import resolves to this package, so no
  // second copy is loaded.
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
  plugins: [transpile],
  // With tree shaking, rollup replaces a parameter by a constant if all calls that rollup finds pass this constant. Rollup does not find
  // calls of functions that come from an `import()`, so the replacement can be wrong. Without tree shaking, the files are almost as small,
  // because the whole package is used.
  treeshake: false,
  onLog: (_level, log) => {
    // Messages of rollup about cycles of imports are ignored. Such a cycle is harmless if the modules use each other only in functions that
    // run later. Every other message of rollup indicates an error in this package, and ends the build.
    if (log.code === 'CIRCULAR_DEPENDENCY') return
    throw new Error(`${log.code}: ${log.message}`)
  },
})
await bundle.write({
  dir: outDir,
  format: 'es',
  entryFileNames: '[name].js',
  // Some modules read a file at a path relative to the module, such as `../../package.json`. After the build, such a path is correct only
  // if the chunk that contains the module is in a folder directly below `dist`.
  chunkFileNames: 'chunks/[name]-[hash].js',
  sourcemap: true,
})
await bundle.close()
chmodSync(join(outDir, 'cli/bin.js'), 0o755)
