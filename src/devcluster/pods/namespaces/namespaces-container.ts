/** `NamespacesContainer`: a container that runs in Linux namespaces. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { ContainerOptions, ContainerProcess, ExecOptions, ExecProcess, TerminalSize } from '../driver.ts'
import { ContainerStartError } from '../driver.ts'
import type { ClusterSandbox } from './cluster-sandbox.ts'
import type { StartReport } from './control-channel.ts'
import { findCommand } from './find-command.ts'
import type { MountSupport } from './mount-support.ts'
import type { PodNamespaces } from './pod-namespaces.ts'
import { prepareRoot } from './prepare-root.ts'
import type { ProgramOptions } from './program-command.ts'
import { hasUserNamespace, programCommand } from './program-command.ts'
import { containerScript, execScript } from './process-scripts.ts'
import { runProgram } from './programs.ts'
import type { RootView } from './root-view.ts'
import type { StartedProcess } from './sandbox-process.ts'
import { startProcess } from './sandbox-process.ts'

export interface ContainerPlace {
  readonly cluster: ClusterSandbox
  readonly namespaces: PodNamespaces
  readonly support: MountSupport
  /** The path of the program `unshare`. */
  readonly unshare: string
  /** The path of the container's folder, relative to `cluster.directory`. */
  readonly folder: string
  /** The folder that the containers of the Pod share as /dev/shm. */
  readonly sharedMemory: string
}

/** The largest number of columns and of rows of a terminal (ioctl_tty(2): struct winsize). */
const maxSize = 0xffff

export class NamespacesContainer implements ContainerProcess {
  readonly stdin?: Writable
  readonly stdout: Readable
  readonly stderr?: Readable
  readonly exited: Promise<number>
  /** Resolves when the files of the ended container have been deleted. */
  readonly removed: Promise<void>
  readonly #place: ContainerPlace
  readonly #options: Omit<ProgramOptions, 'command'>
  readonly #view: RootView
  readonly #report: StartReport
  #hasExited = false
  #executed = 0

  /** @throws {ContainerStartError} when the process could not be started. */
  static async start(place: ContainerPlace, container: ContainerOptions): Promise<NamespacesContainer> {
    const { cluster, support, namespaces, folder: name, sharedMemory, unshare } = place
    const { command, environment, workingDirectory = '/', user, tty, stdin } = container
    const program: ProgramOptions = { command, environment, workingDirectory, user }
    const words = programCommand(program, cluster.ids, unshare)
    try {
      const { root, missing } = await prepareRoot({ cluster, support, name, sharedMemory, container, workingDirectory })
      await findCommand(root.view, program)
      const files = missing.filter(({ isFolder }) => !isFolder).map(({ path }) => root.pathOf(path))
      const folders = missing.filter(({ isFolder }) => isFolder).map(({ path }) => root.pathOf(path))
      const process = await startProcess({
        enter: [...namespaces.enter(['mount', 'net', 'ipc', 'uts', 'pid']), 'unshare', '--mount', '--'],
        script: containerScript({ folder: root.directory, tty, hasUserNamespace: hasUserNamespace(user, cluster.ids) }),
        lists: [[...new Set([...folders, ...files.map((file) => dirname(file))])], files, words],
        tty,
        stdin,
        pipes: join(root.files, 'main'),
        signal: container.signal,
      })
      return new NamespacesContainer(place, program, root.view, process)
    } catch (error) {
      await cluster.remove([name]).catch(() => undefined)
      throw startError(error)
    }
  }

  private constructor(place: ContainerPlace, options: Omit<ProgramOptions, 'command'>, view: RootView, process: StartedProcess) {
    this.#place = place
    this.#options = options
    this.#view = view
    this.#report = process.report
    if (process.stdin !== undefined) this.stdin = process.stdin
    this.stdout = process.stdout
    if (process.stderr !== undefined) this.stderr = process.stderr
    this.exited = process.exited
    this.removed = this.#clean()
  }

  signal(name: NodeJS.Signals): void {
    if (!this.#hasExited) this.#place.namespaces.signal(this.#report.podPid, name)
  }

  kill(): void {
    this.signal('SIGKILL')
  }

  resize(size: TerminalSize): void {
    if (!this.#hasExited) this.#resize(size, this.#report)
  }

  async execute({ command, environment, tty, stdin }: ExecOptions): Promise<ExecProcess> {
    if (this.#hasExited) throw new ContainerStartError('the container does not run')
    const { cluster, unshare, folder } = this.#place
    const program: ProgramOptions = { ...this.#options, command, environment: { ...this.#options.environment, ...environment } }
    const words = programCommand(program, cluster.ids, unshare)
    await findCommand(this.#view, program)
    const process = await startProcess({
      // With `--wd`, the command that nsenter runs has the same working directory as the outer process. This directory is the root folder
      // of the container. The command of `programCommand` makes this directory the root folder of the program.
      // nsenter does not use the root folder of the container's first process. Until the first process executes the program of the
      // container, the first process still has the root folder of this machine.
      enter: this.#enter(['--net', '--ipc', '--uts', `--pid=${this.#pidNamespace}`, '--wd']),
      script: execScript({ tty }),
      lists: [words],
      tty,
      stdin,
      pipes: join(cluster.files, `${folder}.${this.#executed++}`),
    }).catch((error: unknown) => {
      if (!existsSync(this.#pidNamespace)) throw new ContainerStartError('the container does not run', { cause: error })
      throw startError(error)
    })
    return execProcess(process, {
      kill: () => this.#place.namespaces.signal(process.report.podPid, 'SIGKILL'),
      resize: (size) => this.#resize(size, process.report),
    })
  }

  async #clean(): Promise<void> {
    await this.exited
    this.#hasExited = true
    // This call fails if the cluster is ending or has ended. The files then disappear with the cluster.
    await this.#place.cluster.remove([this.#place.folder]).catch(() => undefined)
  }

  /**
   * The process id of the outer process, which waits for the first process of the container. The outer process is in the mount namespace of
   * the container, but its root folder is still the root folder of this machine.
   */
  get #outerPid(): number {
    return this.#report.outerPid ?? 0
  }

  /** The path of the container's PID namespace. The path exists as long as the first process of the container runs. */
  get #pidNamespace(): string {
    return `/proc/${this.#outerPid}/ns/pid_for_children`
  }

  /**
   * Returns a prefix for a command. With this prefix, the command runs in the mount namespace of the container. The prefix does not change
   * to the root folder of the container: the root folder of the command is the root folder of this machine. The command can therefore be a
   * program of this machine that the image lacks. `options` are further options of nsenter(1).
   */
  #enter(options: readonly string[]): readonly string[] {
    // If the cluster has a user namespace, the first nsenter enters this user namespace. The first nsenter then runs the second nsenter as
    // root. The second nsenter opens the root folder of the outer process. If the uid of the outer process differs from the uid of the
    // second nsenter, only root may open this folder.
    const namespaces = ['nsenter', '--target', String(this.#outerPid), '--mount', '--root', ...options, '--']
    return [...this.#place.namespaces.enter([]), ...namespaces]
  }

  #resize({ columns, rows }: TerminalSize, { terminal }: StartReport): void {
    const isValid = [columns, rows].every((size) => Number.isInteger(size) && size > 0 && size <= maxSize)
    if (terminal === undefined || !isValid) return
    runProgram([...this.#enter([]), 'stty', '-F', terminal, 'cols', String(columns), 'rows', String(rows)]).catch(() => undefined)
  }
}

function startError(error: unknown): ContainerStartError {
  return error instanceof ContainerStartError ? error : new ContainerStartError('the process could not be started', { cause: error })
}

/** Converts a started process to an `ExecProcess`. After the process has ended, `kill` and `resize` have no effect. */
function execProcess(process: StartedProcess, { kill, resize }: Pick<ExecProcess, 'kill' | 'resize'>): ExecProcess {
  const { stdin, stdout, stderr, exited } = process
  let hasExited = false
  void exited.then(() => (hasExited = true))
  return {
    stdout,
    ...(stdin !== undefined && { stdin }),
    ...(stderr !== undefined && { stderr }),
    exited,
    kill: () => {
      if (!hasExited) kill()
    },
    resize: (size) => {
      if (!hasExited) resize(size)
    },
  }
}
