/**
 * Finds the binaries of a real control plane. Their paths come from environment variables, the folder `KUBEBUILDER_ASSETS`, or the user's
 * cache.
 */
import { access, constants } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ProreusError } from '../api/errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The supported releases of Kubernetes, keyed by their minor version. The first release is the default, and the tests are written for it.
 */
export const kubernetesReleases = { '1.36': 'v1.36.3', '1.35': 'v1.35.4', '1.34': 'v1.34.4' } as const
export type KubernetesMinor = keyof typeof kubernetesReleases

/** The environment variable that selects another minor version. envtest uses the same variable. */
const releaseVariable = 'ENVTEST_K8S_VERSION'

export interface Program {
  /**
   * The name of the environment variable that contains the path of the binary. The variables for etcd, kube-apiserver and kubectl have the
   * same names as in envtest.
   */
  readonly variable: string
  /** The release of the binary. Absent for Kubernetes' own binaries: `ENVTEST_K8S_VERSION` selects their release. */
  readonly version?: string
}

export const programs = {
  etcd: { variable: 'TEST_ASSET_ETCD', version: 'v3.6.16' },
  'kube-apiserver': { variable: 'TEST_ASSET_KUBE_APISERVER' },
  kubectl: { variable: 'TEST_ASSET_KUBECTL' },
  'kube-controller-manager': { variable: 'TEST_ASSET_KUBE_CONTROLLER_MANAGER' },
  'kube-scheduler': { variable: 'TEST_ASSET_KUBE_SCHEDULER' },
  kwok: { variable: 'TEST_ASSET_KWOK', version: 'v0.8.0' },
} as const satisfies Readonly<Record<string, Program>>

export type ProgramName = keyof typeof programs

/**
 * Returns the minor version of Kubernetes that `ENVTEST_K8S_VERSION` selects. The value of the variable is a minor version, such as `1.35`,
 * `v1.35` or `1.35.x`, or a supported release. Default: the newest minor version.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the version is not supported.
 */
export function kubernetesMinor(env: Environment): KubernetesMinor {
  const selected = env[releaseVariable]
  const minors = Object.keys(kubernetesReleases) as KubernetesMinor[]
  if (!selected) return minors[0]!
  const minor = minors.find(
    (one) => selected.replace(/^v/, '').replace(/\.x$/, '') === one || selected.replace(/^v?/, 'v') === kubernetesReleases[one],
  )
  if (minor !== undefined) return minor
  const problem = `${releaseVariable} selects Kubernetes ${selected}, which is not supported: supported are ${minors.join(', ')}.`
  throw new ProreusError('PRO_CONFIG_INVALID', problem)
}

/** Returns the release of a binary. For Kubernetes' own binaries, `env` selects the release. */
export function programVersion(name: ProgramName, env: Environment): string {
  const { version }: Program = programs[name]
  return version ?? kubernetesReleases[kubernetesMinor(env)]
}

/**
 * The environment variable with the path of a folder that contains binaries. `setup-envtest` creates such a folder. The file names are the
 * keys of `programs`.
 */
export const assetsVariable = 'KUBEBUILDER_ASSETS'

/** Returns the path of the folder in which binaries are cached. It contains one folder for each version. */
export function programCache(env: Environment): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'proreus', 'bin')
}

/** Returns the path at which the cache stores a binary. The file may not exist yet. */
export function cachedProgram(name: ProgramName, env: Environment): string {
  return join(programCache(env), programVersion(name, env), name)
}

/**
 * Resolves with the path of a binary, or with undefined when the binary is not found. If the environment variable of the binary is set, its
 * value is the path. Otherwise, the folder in the variable `KUBEBUILDER_ASSETS` is searched, then the cache.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when the environment variable of the binary names a file that cannot be executed.
 */
export async function findProgram(name: ProgramName, env: Environment): Promise<string | undefined> {
  const { variable } = programs[name]
  const named = env[variable]
  if (named) {
    if (await isExecutable(named)) return named
    throw new ProreusError('PRO_CONFIG_INVALID', `${variable} names ${named}, which cannot be run: correct the variable, or unset it.`)
  }
  const folder = env[assetsVariable]
  const candidates = [...(folder ? [join(folder, name)] : []), cachedProgram(name, env)]
  for (const path of candidates) if (await isExecutable(path)) return path
  return undefined
}

/**
 * Resolves with the paths of the named binaries, keyed by their names.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when binaries are missing. The message names all of them.
 */
export async function requirePrograms<N extends ProgramName>(names: readonly N[], env: Environment): Promise<Readonly<Record<N, string>>> {
  const found = await Promise.all(names.map(async (name) => [name, await findProgram(name, env)] as const))
  const missing = found.filter(([, path]) => path === undefined).map(([name]) => name)
  if (missing.length > 0) {
    const variables = missing.map((name) => programs[name].variable).join(', ')
    const one = missing.length === 1
    throw new ProreusError(
      'PRO_CONFIG_INVALID',
      `A real control plane needs ${missing.join(', ')}, which ${one ? 'is' : 'are'} not here: name ${one ? 'it' : 'them'} with ${variables}, or set ${assetsVariable} to a folder with ${one ? 'it' : 'them'}.`,
    )
  }
  return Object.fromEntries(found) as Record<N, string>
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
