/**
 * The users who run `proreus dev` in a test. One is the user of the test. The other is an unprivileged user who exists only in a private
 * copy of /etc.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../../../src/testing/until.ts'
import type { Kubectl } from '../devcluster/kubectl.ts'
import { kubectlAs } from '../devcluster/kubectl.ts'
import type { Running } from '../process/process.ts'
import { finished, hasEnded, proreusCommand, runningOf } from '../process/process.ts'

export interface Developer {
  readonly name: string
  /**
   * Returns the beginning of a command line. A command that is appended to it runs as this developer. `folder` is an empty folder that no
   * other command uses.
   */
  become(folder: string): readonly string[]
  /** Makes the user the owner of a folder and of all files in the folder. */
  own(folder: string): Promise<void>
  /** The uid on this machine to which the uid 999 of a container is mapped. Undefined when the test does not know this uid. */
  readonly uidOf999: number | undefined
}

export const testUser: Developer = {
  name: process.getuid?.() === 0 ? 'root' : 'the user of the test',
  become: () => [],
  own: () => Promise.resolve(),
  uidOf999: process.getuid?.() === 0 ? 999 : undefined,
}

/** A uid that no user of this machine has. */
const uid = 61234
const firstSubordinateId = 100_000

/**
 * A shell script. Its arguments are an empty folder, and the command that the script runs. The mounts of the script are visible only to
 * this command.
 */
const prepare = `
set -e
mount -t tmpfs -o mode=0755 tmpfs "$1"
mkdir "$1/upper" "$1/work"
mount -t overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" overlay /etc
shift
echo 'developer:x:${uid}:${uid}::/tmp:/bin/sh' >>/etc/passwd
echo 'developer:${firstSubordinateId}:65536' >/etc/subuid
echo 'developer:${firstSubordinateId}:65536' >/etc/subgid
exec setpriv --reuid ${uid} --regid ${uid} --clear-groups "$@"`

export const unprivilegedUser: Developer = {
  name: 'an unprivileged user with subordinate ids',
  become: (folder) => ['unshare', '--mount', '--', 'sh', '-c', prepare, 'sh', folder],
  async own(folder) {
    const { code, stderr } = await finished('chown', ['-R', `${uid}:${uid}`, '--', folder])
    if (code !== 0) throw new Error(stderr)
  },
  // The uid 1 of a container is mapped to the first subordinate id. Therefore, the uid 999 is mapped to the id that is 998 higher.
  uidOf999: firstSubordinateId + 998,
}

/**
 * Resolves with the reason why this machine cannot run containers of this developer in which processes have different uids. Resolves with
 * undefined if the machine can run such containers.
 */
export async function reasonToSkip(developer: Developer, folder: string): Promise<string | undefined> {
  if (developer !== testUser && process.getuid?.() !== 0) return 'only root can run a command as another user'
  const [program = '', ...words] = [...developer.become(folder), ...proreusCommand(['dev', '--pods=process', '--check'])]
  const { code, stdout, stderr } = await finished(program, words, { cwd: '/', env: environmentIn(tmpdir()) })
  if (code !== 0) return `${stdout}${stderr}`.trim().replace(/\s*\n\s*/g, '; ')
  return /^another uid +no[^]*?reason: (.*)$/m.exec(stdout)?.[1]
}

export interface PodsDev {
  readonly running: Running
  readonly kubectl: Kubectl
}

export interface PodsDevOptions {
  readonly developer: Developer
  /** The working directory, which belongs to the developer. It may contain the state of an earlier run. */
  readonly directory: string
  /** An empty folder for `Developer.become`. Nothing else uses this folder. */
  readonly folder: string
  /** The folders of images, keyed by the name of the image. */
  readonly images: Readonly<Record<string, string>>
}

/** Starts `proreus dev --pods=process` without operators, and waits until it is ready. It is stopped at the end of the test. */
export async function startPodsDev(t: Test, { developer, directory, folder, images }: PodsDevOptions): Promise<PodsDev> {
  const kubeconfig = join(directory, '.proreus/kubeconfig')
  // A killed run leaves its kubeconfig behind. The old kubeconfig is removed, because the code below waits for the kubeconfig of the new
  // run.
  await rm(kubeconfig, { force: true })
  const flags = Object.entries(images).map(([name, image]) => `--pods-image=${name}=${image}`)
  const command = proreusCommand(['dev', '--port', '0', '--operators', 'none', '--pods=process', ...flags])
  const [program = '', ...words] = [...developer.become(folder), ...command]
  const running = runningOf(spawn(program, words, { cwd: directory, env: environmentIn(directory), stdio: ['ignore', 'pipe', 'pipe'] }))
  t.teardown(() => running.stop())
  await until('proreus dev is ready', () => {
    const { child, output } = running
    if (hasEnded(child)) throw new Error(`it ended with ${child.exitCode ?? child.signalCode}: ${output()}`)
    return existsSync(kubeconfig)
  })
  return { running, kubectl: kubectlAs(t, kubeconfig) }
}

function environmentIn(home: string): NodeJS.ProcessEnv {
  const { XDG_CACHE_HOME: _, ...env } = process.env
  return { ...env, HOME: home }
}
