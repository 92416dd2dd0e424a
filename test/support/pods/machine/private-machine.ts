/**
 * Runs a program on a private copy of this machine: with processes, mounts, network links and temporary files of its own, which the program
 * can count. Nothing of this machine is changed. When the program ends, everything that it has started is killed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Finished } from '../../process/process.ts'

/**
 * The user of the program. `machine`: root, or for another user root of a user namespace. `subordinate`: an unprivileged user with
 * subordinate ids; only root can become this user.
 */
export type MachineUser = 'machine' | 'subordinate'

/** A uid that no user of this machine has. */
const uid = 61234

/**
 * Arguments: the folder for the files of the private machine, the user, the command. /etc is a copy, which names the user and the
 * subordinate ids. The shell does not end before its last child, and waits for orphans.
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
  /** An empty folder that belongs to the user. */
  readonly state: string
  /** The folder for temporary files. */
  readonly temporary: string
}

export type RunResult = Finished | { readonly skipped: string }

/**
 * Runs a program with Node.js. Resolves with its exit code and its output, or with the reason why this user cannot make a private machine.
 *
 * @param options.onProgress receives what the program writes to stderr.
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
      // By default, Node.js keeps this cache in the folder for temporary files.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'cache'),
    }
    const words = [...isolation, process.execPath, '--conditions=proreus-source', program, ...args]
    return await finished(words, env, onProgress)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the arguments of `setpriv`: the private machine ends with this process. */
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
