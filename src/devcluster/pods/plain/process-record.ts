/**
 * `ProcessRecord`: the file that lists the processes of a driver: the driver itself, its supervisor, and its containers' processes. After a
 * crash, processes of containers may still run. The supervisor of the next driver reads the file, and ends these processes.
 */
import { closeSync, fstatSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../../api/json.ts'

/** The identity of a process. If the system uses a pid again, the new process has another start time. */
export interface ProcessIdentity {
  readonly pid: number
  readonly startTime: string
}

export interface RecordedProcesses {
  /** The process of the driver. */
  readonly owner: ProcessIdentity
  readonly supervisor: ProcessIdentity
  /**
   * The known processes of all containers (`SupervisedContainer.identities`). After a crash, the supervisor of the next driver starts from
   * these processes to find all other processes of the containers.
   */
  readonly processes: readonly ProcessIdentity[]
}

export class ProcessRecord {
  readonly #file: string
  /**
   * Identifies the folder. A driver that uses this folder sets the environment variable `markerVariable` in each of its containers. The
   * value of the variable begins with `folderId`.
   */
  readonly folderId: string

  /** @param folder an existing folder */
  constructor(folder: string) {
    this.#file = join(folder, 'processes.json')
    const { dev, ino } = statSync(folder)
    this.folderId = `${dev}-${ino}`
  }

  /** Returns the content of the file. Returns undefined when the file is missing or invalid, or belongs to another user. */
  read(): RecordedProcesses | undefined {
    try {
      const content: unknown = JSON.parse(this.#readOwnFile())
      if (!isObject(content)) return undefined
      const { owner, supervisor, processes } = content
      if (!isIdentity(owner) || !isIdentity(supervisor) || !Array.isArray(processes)) return undefined
      return { owner, supervisor, processes: (processes as unknown[]).filter(isIdentity) }
    } catch {
      return undefined
    }
  }

  write(content: RecordedProcesses): void {
    const temporary = `${this.#file}.new`
    rmSync(temporary, { force: true })
    // Another user may have created a link at this path after the removal. With the flag `wx`, the write then fails.
    writeFileSync(temporary, JSON.stringify(content), { mode: 0o600, flag: 'wx' })
    renameSync(temporary, this.#file)
  }

  remove(): void {
    rmSync(this.#file, { force: true })
  }

  /** Throws when the file belongs to another user. Without this error, another user could choose the processes that this user kills. */
  #readOwnFile(): string {
    const fd = openSync(this.#file, 'r')
    try {
      if (fstatSync(fd).uid !== process.getuid?.()) throw new Error(`${this.#file} belongs to another user`)
      return readFileSync(fd, 'utf8')
    } finally {
      closeSync(fd)
    }
  }
}

function isIdentity(value: unknown): value is ProcessIdentity {
  return isObject(value) && Number.isInteger(value['pid']) && typeof value['startTime'] === 'string' && value['startTime'] !== ''
}
