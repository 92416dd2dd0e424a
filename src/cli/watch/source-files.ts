/**
 * `SourceFiles`: watches the source files of a process. The folders of the files are watched with `fs.watch`, as by `node --watch`. After
 * each event, all files are compared with their state when the process loaded them. A change is therefore detected even if the change
 * happens before the file is watched. If a file is replaced, or deleted and created again, the file remains watched.
 *
 * Existing tools are not suitable:
 *
 * - `node --watch` waits without a time limit for a process that does not end. If `node --watch` is killed, its child process continues to
 *   run.
 * - chokidar, which most tools use, loses a watched file that is deleted and created again, for example by `git stash` and `git stash pop`.
 */
import type { FSWatcher } from 'node:fs'
import { existsSync, statSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { messageOf } from '../../api/errors.ts'
import type { Clock } from '../../runtime/clock.ts'
import { timedOut, untilAborted, within } from '../../runtime/waiting.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { SourceFile } from './source-file.ts'
import { missing, sourceFile } from './source-file.ts'

/** A burst of changes ends if no event occurs for this number of milliseconds. "Save all" and `git checkout` cause such bursts. */
const quietMs = 50
/** Maximum number of events in a burst. After this number of events, the burst ends, even if more events follow. */
const maxBurst = 20

/** The files that have changed since the process has loaded them. */
export interface Change {
  readonly paths: readonly string[]
  /** The time at which the first change was noticed, in milliseconds of `clock.monotonicNow()`. */
  readonly noticedAt: number
}

interface Folder {
  readonly watcher: FSWatcher
  /**
   * The identity of the watched folder. If a folder is deleted and created again, its identity changes, and the folder must be watched
   * again.
   */
  readonly identity: string
  /** The names of the watched entries of the folder. Events of other entries are ignored. */
  names: Set<string>
}

export class SourceFiles {
  readonly #clock: Clock
  readonly #logger: Logger
  /** The state with which each file is compared, keyed by path. A file has changed if the current state differs from this state. */
  readonly #loaded = new Map<string, string>()
  /** The files that the current process has loaded. `#loaded` also contains the files of the previous process. */
  readonly #current = new Set<string>()
  readonly #folders = new Map<string, Folder>()
  #event = Promise.withResolvers<void>()

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock
    this.#logger = logger
  }

  /** The number of watched files that exist. */
  get size(): number {
    return [...this.#loaded.values()].filter((state) => state !== missing).length
  }

  /**
   * Prepares for the start of a new process. The files of the previous process remain watched. If the new process fails before it loads
   * these files, their changes are still detected.
   */
  begin(): void {
    this.#current.clear()
    for (const path of this.#loaded.keys()) this.#loaded.set(path, sourceFile(path).state)
  }

  /** Adds a file that the process is about to load. `state` is the state of the file immediately before the process loads the file. */
  add({ path, state }: SourceFile): void {
    this.#current.add(path)
    this.#loaded.set(path, state)
    const folder = this.#folders.get(dirname(path))
    if (folder === undefined) this.#watchFolders()
    else folder.names.add(basename(path))
    if (sourceFile(path).state !== state) this.#wakeUp()
  }

  /**
   * Stops watching the files that the previous process has loaded, but the current process has not loaded. Called when the operators of the
   * current process run.
   */
  removeOthers(): void {
    for (const path of this.#loaded.keys()) if (!this.#current.has(path)) this.#loaded.delete(path)
    this.#watchFolders()
  }

  /** Resolves when files have changed, and the burst of changes has ended. Rejects when the signal aborts. */
  async nextChange(signal: AbortSignal): Promise<Change> {
    for (;;) {
      const event = this.#event.promise
      if (this.#changed().length === 0) {
        await untilAborted(event, signal, () => undefined)
        continue
      }
      const noticedAt = this.#clock.monotonicNow()
      for (let burst = 0; burst < maxBurst; burst += 1) {
        if ((await within(this.#clock, quietMs, this.#event.promise)) === timedOut) break
      }
      signal.throwIfAborted()
      const paths = this.#changed()
      if (paths.length > 0) return { paths, noticedAt }
    }
  }

  close(): void {
    for (const { watcher } of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  #changed(): readonly string[] {
    return [...this.#loaded].filter(([path, state]) => sourceFile(path).state !== state).map(([path]) => path)
  }

  #wakeUp(): void {
    this.#event.resolve()
    this.#event = Promise.withResolvers()
  }

  /** Watches the folder of each file. If the folder does not exist, its nearest existing parent is watched instead. */
  #watchFolders(): void {
    const wanted = new Map<string, Set<string>>()
    for (const path of this.#loaded.keys()) {
      let [folder, name] = [dirname(path), basename(path)]
      while (!existsSync(folder)) [folder, name] = [dirname(folder), basename(folder)]
      wanted.set(folder, (wanted.get(folder) ?? new Set()).add(name))
    }
    for (const [path, { watcher, identity }] of this.#folders) {
      if (wanted.has(path) && identityOf(path) === identity) continue
      watcher.close()
      this.#folders.delete(path)
    }
    for (const [path, names] of wanted) {
      const known = this.#folders.get(path)
      if (known === undefined) this.#watch(path, names)
      else known.names = names
    }
  }

  #watch(path: string, names: Set<string>): void {
    const identity = identityOf(path)
    if (identity === undefined) return
    let watcher: FSWatcher
    try {
      watcher = watch(path, (_event, name) => {
        const isOwn = name === null || name === basename(path) || this.#folders.get(path)?.names.has(name) === true
        if (!isOwn) return
        this.#watchFolders()
        this.#wakeUp()
      })
    } catch (error) {
      return this.#reportUnwatched(path, error)
    }
    watcher.on('error', (error) => this.#reportUnwatched(path, error))
    this.#folders.set(path, { watcher, identity, names })
  }

  #reportUnwatched(path: string, error: unknown): void {
    this.#logger.warn(`changes in ${path} are not noticed: ${messageOf(error)}`)
  }
}

/**
 * Returns the inode and the creation time of a folder. The inode alone is not sufficient, because ext4 may reuse the inode of a deleted
 * folder for a new folder.
 */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats && `${stats.ino} ${stats.birthtimeNs}`
}
