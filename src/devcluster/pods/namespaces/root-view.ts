/**
 * `RootView`: finds files of a container from outside the container, even before the container starts. `RootView` resolves the symbolic
 * links of a path as a process in the container would. If Linux resolved a link such as `/var/run -> /run` outside the container, the
 * result would be a folder of this machine.
 */
import type { Stats } from 'node:fs'
import { lstat, readlink } from 'node:fs/promises'
import { isAbsolute, join, posix } from 'node:path'
import { ContainerStartError } from '../driver.ts'
import { isWithin } from './mount-table.ts'

/** A part of the file system of a container. */
export interface Layer {
  /** The absolute path in the container. */
  readonly path: string
  /** The folders of this machine that have the files of the part. A file in a folder hides files with the same path in later folders. */
  readonly sources: readonly string[]
  /**
   * The kind of the part. The kind determines who creates a missing path, such as the target of a mount or the working directory:
   *
   * - `overlay`: the start script creates the path. If the start script cannot create the path, Proreus creates the path.
   * - `writable`: Proreus creates the path.
   * - `read-only` and `kernel`: the path cannot be created.
   */
  readonly kind: 'overlay' | 'read-only' | 'writable' | 'kernel'
}

export interface Resolved {
  /** The path after all symbolic links are resolved. */
  readonly path: string
  /**
   * If `path` exists, or if Proreus cannot find out whether `path` exists, this is `path`. If `path` does not exist, this is the deepest
   * existing folder or file above `path`.
   */
  readonly existing: string
  /**
   * The status of the file at `path`. Absent if the file does not exist, or if Proreus cannot read the status, for example below /proc.
   * Also absent if `path` is `/`, or if the last part that was resolved is `..`, as in `/usr/lib/..`.
   */
  readonly stats?: Stats
}

/** The maximum number of symbolic links that Linux follows while it resolves one path (path_resolution(7)). */
const maxLinks = 40

/** A path with this number of bytes or more is too long for Linux (path_resolution(7)). */
const tooManyBytes = 4096

export class RootView {
  readonly #layers: Layer[] = []

  /** Adds a part of the file system. If an earlier part has the same path, the new part hides the earlier part. */
  add(layer: Layer): void {
    this.#layers.push(layer)
  }

  /**
   * Returns the innermost part of the container's file system that contains `path`. The folders above `path` must not be symbolic links.
   *
   * @throws {ContainerStartError} when no part contains `path`.
   */
  layerOf(path: string): Layer {
    const found = this.#layers.reduce<Layer | undefined>((best, layer) => {
      return isWithin(path, layer.path) && layer.path.length >= (best?.path.length ?? 0) ? layer : best
    }, undefined)
    if (found === undefined) throw new ContainerStartError(`${path}: no folder of the container contains it`)
    return found
  }

  /** Returns the paths of this machine at which a file of the container may be. `path` is the path of the file in the container. */
  hostPaths(path: string): readonly string[] {
    const layer = this.layerOf(path)
    return layer.sources.map((source) => join(source, posix.relative(layer.path, path)))
  }

  /** Resolves the symbolic links of a path. @throws {ContainerStartError} when they form a loop, or the path is too long. */
  async resolve(path: string): Promise<Resolved> {
    checkLength(path)
    // The parts of the path are in reverse order, because `pop` removes the last item of a list.
    const rest = partsOf(path).reverse()
    let current = '/'
    let links = 0
    for (let part = rest.pop(); part !== undefined; part = rest.pop()) {
      if (part === '..') {
        current = posix.dirname(current)
        continue
      }
      const next = posix.join(current, part)
      const found = await this.#lookUp(next)
      if (found === undefined || found === 'unknown') {
        const resolved = posix.join(next, ...rest.reverse())
        checkLength(resolved)
        return { path: resolved, existing: found === undefined ? current : resolved }
      }
      if (found.target !== undefined) {
        links += 1
        if (links > maxLinks) throw new ContainerStartError(`${path}: too many levels of symbolic links`)
        if (isAbsolute(found.target)) current = '/'
        rest.push(...partsOf(found.target).reverse())
        continue
      }
      if (rest.length === 0) return { path: next, existing: next, stats: found.stats }
      current = next
    }
    return { path: current, existing: current }
  }

  /**
   * Returns the status of a file of the container, and the target if the file is a symbolic link. Returns undefined if the file does not
   * exist. Returns `unknown` if Proreus cannot read the status, or if the file is in a folder that the kernel provides when the container
   * starts, such as /proc.
   */
  async #lookUp(path: string): Promise<{ readonly stats: Stats; readonly target?: string } | 'unknown' | undefined> {
    if (this.layerOf(path).kind === 'kernel') return 'unknown'
    for (const hostPath of this.hostPaths(path)) {
      try {
        const stats = await lstat(hostPath)
        return stats.isSymbolicLink() ? { stats, target: await readlink(hostPath) } : { stats }
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'ENOENT' && code !== 'ENOTDIR') return 'unknown'
      }
    }
    return undefined
  }
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

function checkLength(path: string): void {
  if (Buffer.byteLength(path) >= tooManyBytes) throw new ContainerStartError(`${path.slice(0, 64)}…: file name too long`)
}
