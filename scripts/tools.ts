/**
 * Finds the binaries of a real control plane, and builds missing binaries from the Go modules in `tools/`. Prints the paths of the binaries
 * that the arguments name; without arguments, the paths of all binaries.
 */
import { spawn } from 'node:child_process'
import { chmod, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { check, lock } from 'proper-lockfile'
import { ProreusError } from '../src/api/errors.ts'
import type { Environment, KubernetesMinor, ProgramName } from '../src/testing/binaries.ts'
import {
  assetsVariable,
  cachedProgram,
  findProgram,
  kubernetesMinor,
  kubernetesReleases,
  programCache,
  programs,
  programVersion,
} from '../src/testing/binaries.ts'

interface Source {
  /** Returns the folder below `tools/` whose go.mod pins the version of the binary. The folder can depend on environment variables. */
  readonly module: (env: Environment) => string
  readonly package: string
  /**
   * Returns the Go variables that `go build` sets in the binary (`-ldflags -X`), for example the version of the binary. If these variables
   * were not set, a Kubernetes binary would report the version v0.0.0.
   */
  readonly stamps: (version: string) => Readonly<Record<string, string>>
}

/**
 * Returns the folder below `tools/` for a minor release of Kubernetes. The folder of the newest release has no version in its name, because
 * the same folder is updated for each new release.
 */
function moduleOf(minor: KubernetesMinor): string {
  return minor === Object.keys(kubernetesReleases)[0] ? 'kubernetes' : `kubernetes-${minor}`
}

const kubernetes = (name: string): Source => ({
  module: (env) => moduleOf(kubernetesMinor(env)),
  package: `k8s.io/kubernetes/cmd/${name}`,
  stamps(version) {
    const [major, minor] = version.slice(1).split('.') as [string, string]
    return {
      'k8s.io/component-base/version.gitVersion': version,
      'k8s.io/component-base/version.gitMajor': major,
      'k8s.io/component-base/version.gitMinor': minor,
      'k8s.io/client-go/pkg/version.gitVersion': version,
    }
  },
})

export const sources: Readonly<Record<ProgramName, Source>> = {
  etcd: { module: () => 'etcd', package: 'go.etcd.io/etcd/server/v3', stamps: () => ({}) },
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-scheduler': kubernetes('kube-scheduler'),
  kubectl: kubernetes('kubectl'),
  kwok: {
    module: () => 'kwok',
    package: 'sigs.k8s.io/kwok/cmd/kwok',
    stamps: (version) => ({ 'sigs.k8s.io/kwok/pkg/consts.Version': version }),
  },
}

const tools = join(import.meta.dirname, '..', 'tools')

export interface BuildOptions {
  readonly env: Environment
  /** Called with each text that reports the progress of a build, such as `building kubectl v1.35.0 … 120 packages`. */
  readonly progress?: (line: string) => void
}

/**
 * Returns the paths of the binaries, and builds missing binaries first. Only one process builds at a time.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when an environment variable is invalid, when a binary is missing and Go is not installed, or
 * when the build fails.
 */
export async function ensurePrograms<N extends ProgramName>(
  names: readonly N[],
  { env, progress = () => undefined }: BuildOptions,
): Promise<Readonly<Record<N, string>>> {
  const paths: Partial<Record<N, string>> = {}
  for (const name of names) paths[name] = (await findProgram(name, env)) ?? (await buildAlone(name, env, progress))
  return paths as Record<N, string>
}

/**
 * Builds a binary while this process holds a lock. A process that has waited for the lock uses the binary that the previous holder has
 * built.
 */
async function buildAlone(name: ProgramName, env: Environment, progress: (line: string) => void): Promise<string> {
  const cache = programCache(env)
  await mkdir(cache, { recursive: true })
  if (await check(cache)) progress('waiting for another process that builds these programs\n')
  const retries = { forever: true, minTimeout: 250, maxTimeout: 1000 }
  // If another process takes over the lock because the lock seems stale, the build of this process continues. Two builds at the same time
  // do no harm, because each build moves its result into place atomically.
  const release = await lock(cache, { retries, stale: 30_000, onCompromised: () => undefined })
  try {
    return (await findProgram(name, env)) ?? (await build(name, env, progress))
  } finally {
    await release()
  }
}

async function build(name: ProgramName, env: Environment, progress: (line: string) => void): Promise<string> {
  const { module, package: source, stamps } = sources[name]
  const { variable } = programs[name]
  const version = programVersion(name, env)
  const target = cachedProgram(name, env)
  const building = `${target}.${process.pid}`
  const flags = ['-s', '-w', ...Object.entries(stamps(version)).map(([symbol, value]) => `-X=${symbol}=${value}`)]
  const args = ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', `-ldflags=${flags.join(' ')}`, '-v', '-o', building, source]
  await mkdir(dirname(target), { recursive: true })
  const begin = Date.now()
  progress(`building ${name} ${version} …`)
  let packages = 0
  const said: string[] = []
  try {
    // Without cgo, the build needs no C compiler, and the binary runs on every Linux of this architecture.
    const child = spawn('go', args, {
      cwd: join(tools, module(env)),
      env: { ...env, CGO_ENABLED: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    // `go build -v` prints the path of each package that it compiles. Every other line is an error or a warning.
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (/^[\w./~-]+$/.test(line)) progress(`\rbuilding ${name} ${version} … ${(packages += 1)} packages`)
      else said.push(line)
    })
    if ((await ended) !== 0)
      throw new ProreusError('PRO_CONFIG_INVALID', `${name} ${version} cannot be built:\n${said.slice(-20).join('\n')}`)
    await chmod(building, 0o755)
    await rename(building, target)
  } catch (error) {
    progress('\n')
    await rm(building, { force: true })
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new ProreusError(
      'PRO_CONFIG_INVALID',
      `${name} is not here and there is no Go to build it: install Go 1.26 or newer, name the program with ${variable}, or set ${assetsVariable} to a folder with it.`,
      { cause: error },
    )
  }
  progress(`\rbuilt ${name} ${version} in ${Math.round((Date.now() - begin) / 1000)} s: ${target}\n`)
  return target
}

/**
 * Writes a line of progress to standard error. On a terminal, a line that begins with `\r` replaces the previous line. If standard error is
 * not a terminal, only lines that end with `\n` are written.
 */
export function showProgress(line: string): void {
  if (process.stderr.isTTY || line.endsWith('\n')) process.stderr.write(process.stderr.isTTY ? line : line.replace('\r', ''))
}

if (import.meta.main) {
  const asked = process.argv.slice(2)
  const unknown = asked.filter((name) => !Object.hasOwn(programs, name))
  if (unknown.length > 0) {
    process.stderr.write(`There is no program ${unknown.join(', ')}: there are ${Object.keys(programs).join(', ')}.\n`)
    process.exitCode = 2
  } else {
    const names = (asked.length > 0 ? asked : Object.keys(programs)) as ProgramName[]
    try {
      const paths = await ensurePrograms(names, { env: process.env, progress: showProgress })
      process.stdout.write(names.map((name) => `${paths[name]}\n`).join(''))
    } catch (error) {
      if (!(error instanceof ProreusError)) throw error
      process.stderr.write(`${error.message}\n`)
      process.exitCode = 1
    }
  }
}
