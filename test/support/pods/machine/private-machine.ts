/**
 * Runs a program on a private machine: in new PID, mount and network namespaces, and with a separate folder for temporary files. The
 * program can count its processes, mounts, network interfaces and temporary files, because other programs do not change them. When the
 * program ends, all processes that it has started are killed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Finished } from '../../process/process.ts'

/**
 * The user who runs the program. `machine`: root, or root of a new user namespace if this process does not run as root. `subordinate`: an
 * unprivileged user with subordinate ids. `subordinate` is possible only if this process runs as root.
 */
export type MachineUser = 'machine' | 'subordinate'

/** A uid that no user of this machine has. */
const uid = 61234

/**
 * A shell script that prepares the private machine, and then runs a command. The arguments are:
 *
 * - the folder for the files of the private machine
 * - the `MachineUser`
 * - the command
 *
 * If the `MachineUser` is `subordinate`, the script mounts an overlay on /etc, and adds an unprivileged user to the files in the overlay.
 * The files in /etc of this machine do not change.
 *
 * The shell is PID 1, and reaps orphans while the command runs. Without the `exit` at the end of the script, the shell could replace itself
 * with the command.
 */
const prepare = `
set -e
folder=$1 user=$2
shift 2
mount -t tmpfs -o mode=0755 tmpfs "$folder"
mkdir -m 1777 "$folder/tmp" "$folder/cache"
mkdir "$folder/state" "$folder/upper" "$folder/work"
ip link set lo up
if [ "$user" = subordinate ]; then
  mount -t overlay -o "lowerdir=/etc,upperdir=$folder/upper,workdir=$folder/work" overlay /etc
  echo 'pods:x:${uid}:${uid}::/tmp:/bin/sh' >>/etc/passwd
  echo '${uid}:100000:65536' >/etc/subuid
  echo 'pods:100000:65536' >/etc/subgid
  chown ${uid}:${uid} "$folder/state"
  set -- setpriv --reuid ${uid} --regid ${uid} --clear-groups "$@"
fi
set +e
"$@"
exit $?`

/** The folders of a program on a private machine. */
export interface MachineFolders {
  /** An empty folder, which belongs to the user. */
  readonly state: string
  /** The folder for temporary files. */
  readonly temporary: string
}

export type RunResult = Finished | { readonly skipped: string }

/**
 * Runs a program with Node.js. Resolves with its exit code and its output. If no private machine can be created for `user`, resolves with
 * the reason instead.
 *
 * @param options.onProgress receives the text that the program writes to stderr.
 */
export async function runOnPrivateMachine(
  user: MachineUser,
  command: (folders: MachineFolders) => readonly [program: string, ...args: string[]],
  { onProgress = () => undefined }: { readonly onProgress?: (text: string) => void } = {},
): Promise<RunResult> {
  const folder = mkdtempSync(join(tmpdir(), 'proreus-machine-'))
  try {
    chmodSync(folder, 0o755)
    const folders = { state: join(folder, 'state'), temporary: join(folder, 'tmp') }
    const [program, ...args] = command(folders)
    const isolation = isolate(folder, user)
    const reason = reasonToSkip(user, [...isolation, 'test', '-r', program])
    if (reason !== undefined) return { skipped: reason }
    const env = {
      PATH: `${dirname(process.execPath)}:/usr/sbin:/usr/bin:/sbin:/bin`,
      TMPDIR: folders.temporary,
      HOME: folders.temporary,
      // The program counts the files in the folder for temporary files. By default, Node.js would create its compile cache in this folder.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'cache'),
    }
    const words = [...isolation, process.execPath, '--conditions=proreus-source', program, ...args]
    return await finished(words, env, onProgress)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Returns the first arguments for a call of `setpriv`. With these arguments, `setpriv` creates the private machine. The caller appends the
 * program that runs on the private machine, and the arguments of this program. `--pdeathsig` kills the private machine when this process
 * ends.
 */
function isolate(folder: string, user: MachineUser): readonly string[] {
  const isRoot = process.getuid?.() === 0
  return [
    ...['--pdeathsig', 'KILL', 'unshare', ...(isRoot ? [] : ['--user', '--map-root-user', '--map-auto'])],
    ...['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc', '--', 'sh', '-c', prepare, 'sh', folder, user],
  ]
}

function reasonToSkip(user: MachineUser, trial: readonly string[]): string | undefined {
  if (user === 'subordinate' && process.getuid?.() !== 0) return 'only root can become another user'
  const { status, stderr, error } = spawnSync('setpriv', trial, { encoding: 'utf8' })
  if (status === 0) return undefined
  return `no private machine can be made: ${error?.message ?? stderr.trim()} (exit code ${status})`
}

async function finished(words: readonly string[], env: NodeJS.ProcessEnv, onProgress: (text: string) => void): Promise<Finished> {
  const child = spawn('setpriv', words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
    onProgress(chunk.toString())
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  return { code, stdout, stderr }
}
