/** Where the programs of a real control plane are: named by a variable, in a folder of them, or in the user's cache. */
import { access, constants } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ProreusError } from '../api/errors.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface Program {
  /** The release that the tests are written for. */
  readonly version: string
  /** Names the program's file; the names of the first three are those of envtest. */
  readonly variable: string
}

const kubernetes = 'v1.36.3'

export const programs = {
  etcd: { version: 'v3.6.16', variable: 'TEST_ASSET_ETCD' },
  'kube-apiserver': { version: kubernetes, variable: 'TEST_ASSET_KUBE_APISERVER' },
  kubectl: { version: kubernetes, variable: 'TEST_ASSET_KUBECTL' },
  'kube-controller-manager': { version: kubernetes, variable: 'TEST_ASSET_KUBE_CONTROLLER_MANAGER' },
  'kube-scheduler': { version: kubernetes, variable: 'TEST_ASSET_KUBE_SCHEDULER' },
  kwok: { version: 'v0.8.0', variable: 'TEST_ASSET_KWOK' },
} as const satisfies Readonly<Record<string, Program>>

export type ProgramName = keyof typeof programs

/** A folder with programs under their own names, as `setup-envtest` fills it. */
export const assetsVariable = 'KUBEBUILDER_ASSETS'

/** The user's folder for programs: one folder for each version in it. */
export function programCache(env: Environment): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'proreus', 'bin')
}

/** Where the cache has a program, or would have it. */
export function cachedProgram(name: ProgramName, env: Environment): string {
  return join(programCache(env), programs[name].version, name)
}

/**
 * The path of a program: its own variable goes first, then the folder `KUBEBUILDER_ASSETS`, then the cache. Undefined when it is nowhere.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when its variable names something that cannot be run.
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

/** The paths of all these programs. One error names all that are missing. */
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
