/**
 * Runs programs that have no permission to create Linux namespaces. If `proreus dev --pods=process` has no such permission, the command
 * runs the containers of Pods as plain processes.
 */
import { spawnSync } from 'node:child_process'

/**
 * A shell script that runs in a new user namespace. The script forbids the creation of user namespaces in that namespace, and drops the
 * capabilities that are needed to create other kinds of namespaces.
 */
const script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all -- "$@"'
const words = ['unshare', '--user', '--map-root-user', '--', 'sh', '-c', script, 'sh']

export interface WithoutNamespaces {
  /**
   * If these words precede a command, the command cannot create namespaces. The list of words is empty in two cases:
   *
   * - Programs on this machine can never create namespaces.
   * - The test must be skipped.
   */
  readonly words: readonly string[]
  /** The reason why a test must be skipped; false if the test can run. */
  readonly skip: string | false
}

export function withoutNamespaces(): WithoutNamespaces {
  const [program = '', ...args] = [...words, 'true']
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status === 0) return { words, skip: false }
  const mayCreateThem = process.platform === 'linux' && process.getuid?.() === 0
  return { words: [], skip: mayCreateThem && `root cannot be refused namespaces: ${error?.message ?? stderr.trim()}` }
}
