/**
 * `ClusterSandbox`: the Linux namespaces in which the Pods of the embedded cluster run:
 *
 * - a mount namespace
 * - a network namespace with a bridge
 * - a PID namespace
 * - a user namespace, if Proreus does not run as root of the machine
 *
 * The first process in the PID namespace reads a pipe from Proreus. When Proreus closes the pipe or dies, even by SIGKILL, the first
 * process ends. The kernel then kills all other processes of the PID namespace, even if they have forked twice, started a session, changed
 * their uid or ignored signals. The mounts and the network disappear with the processes.
 */
import { mkdtemp, realpath, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { HeldProgram } from './held-program.ts'
import type { IdMapping } from './id-mapping.ts'
import { openPorts } from './open-ports.ts'
import { runProgram } from './programs.ts'

/** The name of the bridge that connects the network namespaces of the Pods. */
export const bridge = 'pods0'

/**
 * The hardware address of the bridge. A bridge without a fixed address uses the address of one of its links, so its address changes when a
 * Pod is added or removed. The other Pods could then reach neither DNS nor Services until their ARP entries expire, up to a minute later.
 */
const bridgeHardwareAddress = '0a:58:00:00:00:01'

/**
 * Runs initScript in new namespaces. When initScript has ended, removes the folder at which setupScript mounted the file system of the
 * sandbox. Arguments: this folder; initScript; setupScript; the address of the bridge; options of unshare(1).
 */
const outerScript = `
directory=$1 init=$2 setup=$3 address=$4
shift 4
unshare "$@" --mount --net --pid --fork --kill-child --propagation slave -- sh -c "$init" sh "$setup" "$directory" "$address"
code=$?
rmdir -- "$directory"
exit $code`

/**
 * The script of the first process in the PID namespace:
 *
 * - Prints the process id that the process has outside of the PID namespace.
 * - Waits until Proreus has mapped the user and group ids.
 * - Replaces itself with a new shell that runs setupScript. The kernel gives all capabilities of root only to a program that starts after
 *   the mapping.
 */
const initScript = `
read -r pid rest </proc/self/stat
echo "$pid"
read -r mapped || exit
exec sh -c "$1" sh "$2" "$3"`

/**
 * Mounts a file system in memory for the files of the containers, and sets up the bridge. Then reads the pipe from Proreus until Proreus
 * closes the pipe or dies. Arguments: the folder at which the file system is mounted; the address of the bridge.
 *
 * The network of the cluster has no route to any other network, but the script enables the forwarding of packets. With forwarding, the
 * kernel refuses the connection when a program connects to an address outside of the cluster. Without forwarding, the kernel would drop the
 * packets, and the program would wait for minutes.
 */
const setupScript = `
set -e
${openPorts}
mount -n -t tmpfs -o mode=0755 proreus "$1"
ip link set lo up
ip link add ${bridge} address ${bridgeHardwareAddress} type bridge
ip address add "$2" dev ${bridge}
ip link set ${bridge} up
{ echo 1 >/proc/sys/net/ipv4/ip_forward; } 2>/dev/null || :
echo ready
exec cat >/dev/null 2>&1`

/** A namespace that a program can enter. If the cluster has its own user namespace, all programs also enter the user namespace. */
export type EnteredNamespace = 'mount' | 'net' | 'ipc' | 'uts' | 'pid'

export interface ClusterSandboxOptions {
  readonly ids: IdMapping
  /** The address of the bridge and the length of its prefix, e.g. 10.244.0.1/16. */
  readonly bridgeAddress: string
  /**
   * The folder in which the sandbox creates an empty folder. The sandbox mounts a file system for its files at the empty folder. When the
   * sandbox ends, it removes the empty folder.
   */
  readonly temporaryDirectory: string
}

export class ClusterSandbox {
  readonly ids: IdMapping
  /** The path of the sandbox's files in the mount namespace of the cluster. The files are in a file system in memory. */
  readonly directory: string
  /** The process id that the first process has outside of the namespaces. */
  readonly pid: number
  readonly #program: HeldProgram
  #isClosed = false

  private constructor(ids: IdMapping, directory: string, pid: number, program: HeldProgram) {
    this.ids = ids
    this.directory = directory
    this.pid = pid
    this.#program = program
  }

  /**
   * @throws {Error} when the sandbox cannot be created, e.g. because this machine does not permit new namespaces. If a program has failed,
   *   the error is a `ProgramError`, and its message is the stderr of this program.
   */
  static async open({ ids, bridgeAddress, temporaryDirectory }: ClusterSandboxOptions): Promise<ClusterSandbox> {
    const directory = await mkdtemp(join(await realpath(temporaryDirectory), 'proreus-pods-'))
    const options = ids.kind === 'machine' ? [] : ['--user']
    const scripts = [outerScript, 'sh', directory, initScript, setupScript, bridgeAddress]
    let program: HeldProgram | undefined
    try {
      program = await HeldProgram.start(['sh', '-c', ...scripts, ...options])
      const pid = Number(await program.nextLine())
      await ids.apply(pid)
      program.writeLine('mapped')
      await program.nextLine()
      return new ClusterSandbox(ids, directory, pid, program)
    } catch (error) {
      await program?.close()
      // If the shell was started, it has already removed the folder, and this call fails.
      await rmdir(directory).catch(() => undefined)
      throw error
    }
  }

  /** The path at which Proreus reaches `directory` from outside of the mount namespace. */
  get files(): string {
    return `/proc/${this.pid}/root${this.directory}`
  }

  /**
   * Returns a prefix for a command. With this prefix, the command runs in the given namespaces of the process `pid`, as root in the user
   * namespace of the cluster. The default of `pid` is the first process of the cluster.
   */
  enter(namespaces: readonly EnteredNamespace[], pid = this.pid): readonly string[] {
    // The user namespace maps the user who runs Proreus to root. The command therefore runs as root of the user namespace without a change
    // of its uid and gid. `--preserve-credentials` prevents nsenter from changing the uid and gid.
    const user = this.ids.kind === 'machine' ? [] : ['--user', '--preserve-credentials']
    return ['nsenter', '--target', String(pid), ...user, ...namespaces.map((name) => `--${name}`), '--']
  }

  /**
   * Runs a command in the given Linux namespaces of the cluster sandbox. Resolves with the stdout of the command.
   *
   * @throws {ProgramError} when the command fails.
   */
  run(namespaces: readonly EnteredNamespace[], command: readonly string[]): Promise<string> {
    return runProgram([...this.enter(namespaces), ...command])
  }

  /**
   * Deletes folders in `directory`. The command `rm` runs as root in the namespaces of the cluster, because Proreus itself may lack the
   * permission to delete files that a container has written as another user.
   */
  async remove(names: readonly string[]): Promise<void> {
    // If the sandbox is closed, the files have disappeared with the mount namespace.
    if (this.#isClosed) return
    await this.run(['mount'], ['rm', '-rf', '--one-file-system', '--', ...names.map((name) => join(this.directory, name))])
  }

  /** Kills all processes of the cluster. Resolves when they have ended and the folder has been removed. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#program.close()
  }
}
