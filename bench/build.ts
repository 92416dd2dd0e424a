/**
 * Builds the programs that the benchmarks run. Programs in Go and Rust are built in a cache folder outside of the repository. Proreus is
 * built in `dist`.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
const peers = join(import.meta.dirname, 'peers')
const cache = join(process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache'), 'proreus', 'bench')

/** Builds a Go program, and returns the path of the binary. */
export function goProgram(name: string, directory: string): string {
  const target = join(cache, name)
  build('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', target, '.'], directory)
  return target
}

/** Builds a Rust program, and returns the path of the binary. */
export function rustProgram(name: string, directory: string): string {
  const target = join(cache, `${name}-target`)
  // There is no Cargo.lock. Cargo.toml pins the direct dependencies, and the versions of indirect dependencies may vary.
  build('cargo', ['build', '--release', '--target-dir', target], directory)
  return join(target, 'release', name)
}

export const controllerRuntimeProgram = (): string => goProgram('controller-runtime', join(peers, 'controller-runtime'))
export const kubeRsProgram = (): string => rustProgram('kube-rs', join(peers, 'kube-rs'))

/** Builds `dist/`. A process loads `dist/` faster than the sources. */
export function buildProreus(): void {
  build(process.execPath, [join(root, 'scripts/build.ts')], root)
}

/**
 * Converts modules of this folder to JavaScript, and returns the path of the first converted module. A process that loads TypeScript also
 * loads a compiler, which takes 18 MB. The measurements must not include this memory, because the image of an operator contains only
 * JavaScript.
 */
export function javaScriptOf(...modules: readonly string[]): string {
  const target = (path: string): string => join(root, 'dist/bench', path.replace(/\.ts$/, '.js'))
  const compilerOptions = {
    target: ts.ScriptTarget.ES2024,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
  }
  for (const path of modules) {
    mkdirSync(dirname(target(path)), { recursive: true })
    writeFileSync(target(path), ts.transpileModule(readFileSync(join(import.meta.dirname, path), 'utf8'), { compilerOptions }).outputText)
  }
  return target(modules[0]!)
}

function build(command: string, args: readonly string[], cwd: string): void {
  process.stderr.write(`building ${cwd === root ? 'Proreus' : cwd.slice(cwd.indexOf('bench'))} …\n`)
  const { status, error } = spawnSync(command, args, {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, CGO_ENABLED: '0' },
  })
  if (error !== undefined || status !== 0) throw new Error(`${command} could not build ${cwd}`, { cause: error })
}
