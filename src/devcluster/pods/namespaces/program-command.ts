/** The command that sets the user, capabilities, environment, root and working directory of a process, and then executes the program. */
import type { ProcessUser } from '../driver.ts'
import { ContainerStartError } from '../driver.ts'
import type { IdMapping } from './id-mapping.ts'

/** The capabilities that a container has by default (github.com/containerd/containerd/pkg/oci: defaultUnixCaps). */
const capabilities = [
  'chown',
  'dac_override',
  'fsetid',
  'fowner',
  'mknod',
  'net_raw',
  'setgid',
  'setuid',
  'setfcap',
  'setpcap',
  'net_bind_service',
  'sys_chroot',
  'kill',
  'audit_write',
]

export interface ProgramOptions {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly workingDirectory: string
  readonly user: ProcessUser | undefined
}

/**
 * Returns the words of a command that starts a program. The current folder of the command becomes the root of the program.
 *
 * @param unshare the path of the program `unshare`. The name is not sufficient, because env(1) would search for it in the PATH of the
 *   container.
 * @throws {ContainerStartError} when the uid or a gid of the user does not exist in the container, or when a word contains a null character
 */
export function programCommand(options: ProgramOptions, ids: IdMapping, unshare: string): readonly string[] {
  const { command, environment, workingDirectory, user } = options
  const [groups, owner] = ids.kind === 'single' ? [[], singleUser(user)] : [groupOptions(user, ids), userOptions(user)]
  const words = [
    ...['setpriv', ...groups, `--bounding-set=-all,${capabilities.map((name) => `+${name}`).join(',')}`],
    ...['env', '--ignore-environment', '--', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
    ...[unshare, ...owner, '--root=.', `--wd=${workingDirectory}`, '--', ...command],
  ]
  if (words.some((word) => word.includes('\0')))
    throw new ContainerStartError('the command or the environment contains a null character, which no process can receive')
  return words
}

function groupOptions(user: ProcessUser | undefined, { gids, uids }: IdMapping): readonly string[] {
  const { uid, gid, supplementalGroups } = user ?? { uid: 0, gid: 0, supplementalGroups: [] }
  const groups = [...new Set(supplementalGroups)]
  if (uid >= uids) throw new ContainerStartError(`the uid ${uid} does not exist: the container has the uids 0 to ${uids - 1}`)
  const missing = [gid, ...groups].find((one) => one >= gids)
  if (missing !== undefined) throw new ContainerStartError(`the gid ${missing} does not exist: the container has the gids 0 to ${gids - 1}`)
  return [`--regid=${gid}`, groups.length === 0 ? '--clear-groups' : `--groups=${groups.join(',')}`]
}

/**
 * Returns the options of unshare(1) that set the user. unshare(1) is the last program of the command. unshare(1) needs capabilities to
 * change the root. If an earlier program of the command set the user, unshare(1) would lose these capabilities.
 */
function userOptions(user: ProcessUser | undefined): readonly string[] {
  return user === undefined || user.uid === 0 ? [] : [`--setuid=${user.uid}`]
}

/** Returns true if each process of this user runs in its own user namespace, and not in the user namespace of the cluster. */
export function hasUserNamespace(user: ProcessUser | undefined, ids: IdMapping): boolean {
  return ids.kind === 'single' && singleUser(user).length > 0
}

/**
 * Returns the options with which unshare(1) sets the uid and the gid of a process. The options are for a cluster whose user namespace has
 * only one uid and one gid. With the options, unshare(1) creates a separate user namespace for the process. In this namespace, the process
 * has the uid and the gid of `user`. The supplemental groups of `user` have no effect. If `user` is undefined or has the uid 0 and the gid
 * 0, the function returns an empty list.
 */
function singleUser(user: ProcessUser | undefined): readonly string[] {
  if (user === undefined || (user.uid === 0 && user.gid === 0)) return []
  return ['--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`]
}
