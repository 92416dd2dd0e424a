/**
 * `createPlainDriver` creates the driver for machines on which Proreus cannot create namespaces. The driver runs the containers of Pods as
 * plain processes of the user who runs Proreus.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ProreusError, messageOf } from '../../../api/errors.ts'
import type { PodDriver, PodSandbox } from '../driver.ts'
import { PlainPod } from './plain-pod.ts'
import type { PlainPlace } from './plain-process.ts'
import { Supervisor } from './supervisor.ts'

export interface PlainDriverOptions {
  /**
   * The folder of the file that lists the running processes. The driver creates the folder. If Proreus crashes, the next start with the
   * same folder finds and ends the processes that are still running. Only one driver can use a folder at a time.
   */
  readonly stateFolder: string
}

/**
 * Creates the driver and starts its supervisor, the process that starts the containers. When the process of the driver ends for any reason,
 * the supervisor kills the containers.
 *
 * A container uses the network, the host name and the files of this machine. If a container needs anything else, such as an image or
 * another uid, its start fails (`unsupported`).
 *
 * Each container has its own process group. On macOS, Proreus cannot find a process that has left the process group and whose parent has
 * ended. Such a process survives the end of the container.
 *
 * @throws {ProreusError} `PRO_STATE_FILE` when the folder cannot be used
 */
export async function createPlainDriver({ stateFolder }: PlainDriverOptions): Promise<PodDriver> {
  const driver = new PlainDriver(resolve(stateFolder))
  await driver.place()
  return driver
}

class PlainDriver implements PodDriver {
  readonly mode = 'plain'
  readonly ownFolders = []
  readonly #stateFolder: string
  /** Undefined when the supervisor has ended or could not be started. The next container then starts another supervisor. */
  #supervisor: Promise<Supervisor> | undefined
  #pipes = 0
  #isClosed = false

  constructor(stateFolder: string) {
    this.#stateFolder = stateFolder
  }

  createSandbox(): Promise<PodSandbox> {
    return Promise.resolve(new PlainPod(() => this.place()))
  }

  /**
   * Resolves with a running supervisor, and with a function that returns an unused path for the pipes of a process. If no supervisor is
   * running, `place` first starts a supervisor.
   */
  async place(): Promise<PlainPlace> {
    if (this.#isClosed) throw new Error('the driver of the Pods has been closed')
    this.#supervisor ??= this.#supervise()
    return { supervisor: await this.#supervisor, newPipes: () => join(this.#pipesFolder, String(this.#pipes++)) }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const supervisor = await this.#supervisor?.catch(() => undefined)
    await supervisor?.close()
    rmSync(this.#pipesFolder, { recursive: true, force: true })
  }

  get #pipesFolder(): string {
    return join(this.#stateFolder, 'pipes')
  }

  #supervise(): Promise<Supervisor> {
    const starting = this.#startSupervisor()
    const forget = (): void => {
      if (this.#supervisor === starting) this.#supervisor = undefined
    }
    // If the supervisor was killed, the processes that it had started may still be running. The next supervisor first ends these processes.
    starting
      .then(async ({ ended }) => {
        await ended
        forget()
        await this.place()
      })
      .catch(forget)
    return starting
  }

  async #startSupervisor(): Promise<Supervisor> {
    try {
      mkdirSync(this.#stateFolder, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw new ProreusError('PRO_STATE_FILE', `Pods cannot run as processes: ${messageOf(error)}`, { cause: error })
    }
    const supervisor = await Supervisor.start(this.#stateFolder)
    rmSync(this.#pipesFolder, { recursive: true, force: true })
    mkdirSync(this.#pipesFolder, { mode: 0o700 })
    return supervisor
  }
}
