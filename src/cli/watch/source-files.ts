/**
 * The source files of a process. Their folders are watched with Node.js's own `fs.watch`, as `node --watch` does it. Its events only wake
 * up a comparison of the files with the state in which the process has loaded them. A change is therefore noticed when it happens before
 * the file is watched, and a file is still watched after it has been replaced, or deleted and created again.
 *
 * `node --watch` itself cannot be used: it waits without a limit for a process that does not end, and leaves the process behind when it is
 * killed. chokidar, which most tools use, does not notice that a watched file is created again after its deletion, for example by `git
 * stash` and `git stash pop`.
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

/** Time in milliseconds without events after which a burst of saves has ended, such as that of "save all" or of `git checkout`. */
const quietMs = 50
/** Maximum number of events that prolong a burst. */
const maxBurst = 20

/** The files that have changed since the process has loaded them. */
export interface Change {
  readonly paths: readonly string[]
  /** The time at which the first change was noticed, in milliseconds of `clock.monotonicNow()`. */
  readonly noticedAt: number
}

interface Folder {
  readonly watcher: FSWatcher
  /** A folder that is deleted and created again has another inode, and must be watched again. */
  readonly inode: bigint
  /** The entries of the folder whose events matter. */
  names: Set<string>
}

export class SourceFiles {
  readonly #clock: Clock
  readonly #logger: Logger
  /** The state in which the process has loaded each file, keyed by path. */
  readonly #loaded = new Map<string, string>()
  /** The files that the current process has loaded. The others are those of the process before. */
  readonly #current = new Set<string>()
  readonly #folders = new Map<string, Folder>()
  #event = Promise.withResolvers<void>()

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock
    this.#logger = logger
  }

  /** The number of files that exist. */
  get size(): number {
    return [...this.#loaded.values()].filter((state) => state !== missing).length
  }

  /** Prepares for a new process. The files of the process before stay, because the new one may fail before it has loaded all of its own. */
  begin(): void {
    this.#current.clear()
    for (const path of this.#loaded.keys()) this.#loaded.set(path, sourceFile(path).state)
  }

  /** Adds a file in the state in which the process loads it. */
  add({ path, state }: SourceFile): void {
    this.#current.add(path)
    this.#loaded.set(path, state)
    const folder = this.#folders.get(dirname(path))
    if (folder === undefined) this.#watchFolders()
    else folder.names.add(basename(path))
    if (sourceFile(path).state !== state) this.#wakeUp()
  }

  /** Removes the files that only the process before has loaded. It is called when the current process has loaded its own. */
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

  /** Watches the folder of each file; for a folder that does not exist, its nearest parent that exists. */
  #watchFolders(): void {
    const wanted = new Map<string, Set<string>>()
    for (const path of this.#loaded.keys()) {
      let [folder, name] = [dirname(path), basename(path)]
      while (!existsSync(folder)) [folder, name] = [dirname(folder), basename(folder)]
      wanted.set(folder, (wanted.get(folder) ?? new Set()).add(name))
    }
    for (const [path, { watcher, inode }] of this.#folders) {
      if (wanted.has(path) && inodeOf(path) === inode) continue
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
    const inode = inodeOf(path)
    if (inode === undefined) return
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
    this.#folders.set(path, { watcher, inode, names })
  }

  #reportUnwatched(path: string, error: unknown): void {
    this.#logger.warn(`changes in ${path} are not noticed: ${messageOf(error)}`)
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { throwIfNoEntry: false, bigint: true })?.ino
}
