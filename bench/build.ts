/** Builds the compared programs, which are written in Go and Rust, into a cache folder outside of the repository. */
import { spawnSync } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'

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
  // There is no Cargo.lock: Cargo.toml pins the direct dependencies, and the versions of indirect dependencies may vary.
  build('cargo', ['build', '--release', '--target-dir', target], directory)
  return join(target, 'release', name)
}

export const controllerRuntimeProgram = (): string => goProgram('controller-runtime', join(peers, 'controller-runtime'))
export const kubeRsProgram = (): string => rustProgram('kube-rs', join(peers, 'kube-rs'))

/** Builds `dist/`, which a process loads faster than the sources. */
export function buildProreus(): void {
  build(process.execPath, [join(root, 'scripts/build.ts')], root)
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
