/**
 * `PodDriver`: runs the containers of Pods as processes of this machine. With the driver `namespaces`, each Pod has its own network, and
 * each container has its own file system. With the driver `plain`, the processes use the network and the files of this machine.
 */
import type { Duplex, Readable, Writable } from 'node:stream'

export interface PodDriver {
  readonly mode: 'namespaces' | 'plain'
  /**
   * The paths of the folders that containers do not share with this machine, such as `/tmp`. At each of these paths, each container has its
   * own folder. If no folder is configured as the file system of a container's image, the container sees the other folders of this machine.
   * With the driver `plain`, the list is empty.
   */
  readonly ownFolders: readonly string[]
  /**
   * Creates the sandbox of a Pod: the network, the host name and the IPC namespace that the containers of the Pod share. With the driver
   * `plain`, the containers use the network, the host name and the IPC namespace of this machine.
   */
  createSandbox(options: SandboxOptions): Promise<PodSandbox>
  /** Ends all processes and removes all sandboxes. Resolves when all of them are gone. */
  close(): Promise<void>
}

export interface SandboxOptions {
  readonly hostname: string
  /** The IPv4 address of the Pod in the network of the cluster. The driver `plain` has no such network, and ignores this address. */
  readonly address: string
  /** True for a Pod in the network of its node. With the driver `namespaces`, this network contains the bridge of the cluster. */
  readonly hostNetwork: boolean
}

export interface PodSandbox {
  /** The address at which the processes of the Pod are reached. With the driver `plain`, this address is 127.0.0.1. */
  readonly address: string
  /** Starts a process. @throws {ContainerStartError} when the process could not be started. */
  start(options: ContainerOptions): Promise<ContainerProcess>
  /** Connects to a TCP port within the network of the Pod. `host` is 127.0.0.1 by default. */
  connect(port: number, host?: string): Promise<Duplex>
  /** Resolves when the sandbox has ended, because of `remove` or for another reason. The promise never rejects. */
  readonly ended: Promise<void>
  /** Kills the processes that still run, and removes the network. Resolves when the network is removed. */
  remove(): Promise<void>
}

/** A folder or a file of this machine that a container sees at another path. */
export interface Mount {
  /** An absolute path of this machine. */
  readonly source: string
  /** An absolute path in the container. If the path does not exist in the container, the driver creates it. */
  readonly target: string
  readonly isReadOnly: boolean
}

/** The user and the groups of a process. The ids are those within the container. */
export interface ProcessUser {
  readonly uid: number
  readonly gid: number
  readonly supplementalGroups: readonly number[]
}

export interface ContainerOptions {
  /** The program and its arguments. The list is not empty. */
  readonly command: readonly string[]
  /** All environment variables of the process. Nothing is inherited from Proreus. */
  readonly environment: Readonly<Record<string, string>>
  /** Default: `/`; with the driver `plain`, the working directory of Proreus. */
  readonly workingDirectory?: string
  /**
   * The folder that the container sees as its root. Changes that the container makes to its root are not written to this folder. Default:
   * the root of this machine.
   */
  readonly image?: string
  readonly isRootReadOnly: boolean
  readonly mounts: readonly Mount[]
  /**
   * The user of the process. Default: the user who runs Proreus. With the driver `namespaces`, a process of the default user has the uid 0
   * within the container.
   */
  readonly user?: ProcessUser
  /** True when the process gets a terminal. stdout and stderr are then one stream. */
  readonly tty: boolean
  /** True when the process gets an open stdin. If false, stdin of the process is empty. */
  readonly stdin: boolean
  /** Aborts the start. A process that has already started continues to run. The driver `plain` ignores the signal. */
  readonly signal?: AbortSignal
}

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** The streams of a running process. */
export interface ProcessStreams {
  /** Absent for a process without stdin. */
  readonly stdin?: Writable
  readonly stdout: Readable
  /** Absent for a process with a terminal. */
  readonly stderr?: Readable
  /** Sets the size of the terminal. Does nothing for a process without a terminal. */
  resize(size: TerminalSize): void
  /** Resolves with the exit code. For a process that a signal has ended, the code is 128 plus the number of the signal. Never rejects. */
  readonly exited: Promise<number>
}

export interface ContainerProcess extends ProcessStreams {
  /** Sends a signal to the first process of the container. Does nothing when the container has ended. */
  signal(name: NodeJS.Signals): void
  /** Kills all processes of the container. */
  kill(): void
  /** Starts another process in the container. The process gets the environment, the user and the file system of the container. */
  execute(options: ExecOptions): Promise<ExecProcess>
}

export interface ExecOptions {
  readonly command: readonly string[]
  /**
   * Variables that the process gets in addition to those of the container. A variable here replaces a variable of the container with the
   * same name. Default: none.
   */
  readonly environment?: Readonly<Record<string, string>>
  readonly tty: boolean
  readonly stdin: boolean
}

export interface ExecProcess extends ProcessStreams {
  kill(): void
}

/**
 * Thrown when a container, or another process in a container, could not be started. The message is like that of a container runtime, e.g.
 * `exec: "foo": executable file not found`.
 */
export class ContainerStartError extends Error {}
