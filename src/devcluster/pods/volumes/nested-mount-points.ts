/** The folders of a volume in which other volumes are mounted (k8s.io/kubernetes/pkg/volume/util: MakeNestedMountpoints). */
import type { ReadonlyPod } from '../../controllers/api-types.ts'
import { containersOf } from './containers.ts'

/** The maximum length of a mount path (Linux: PATH_MAX). */
const maxPathLength = 4096

/**
 * Finds the volumes that are mounted inside other volumes. Each key of the result is the name of an outer volume. The value contains the
 * mount paths of the volumes directly inside the outer volume. Each path is relative to the mount path of the outer volume.
 *
 * For example, the volume `a` is mounted at `/data`, `b` at `/data/logs`, and `c` at `/data/logs/old`. The result then contains the path
 * `logs` for `a`, and the path `old` for `b`.
 *
 * The folders at these paths must be created before the outer volume is mounted, because a container runtime cannot create folders in a
 * read-only volume.
 */
export function nestedMountPoints(pod: ReadonlyPod): ReadonlyMap<string, ReadonlySet<string>> {
  const nested = new Map<string, Set<string>>()
  for (const { volumeMounts = [] } of containersOf(pod)) {
    const volumes = new Map(volumeMounts.map(({ mountPath, name }) => [cleanPath(mountPath), name]))
    const paths = [...volumes.keys()].filter((path) => path.length <= maxPathLength)
    for (const [path, outer] of outerMounts(paths)) {
      const name = volumes.get(outer)!
      nested.set(name, (nested.get(name) ?? new Set()).add(path.slice(outer === '/' ? 1 : outer.length + 1)))
    }
  }
  return nested
}

/**
 * Cleans a path. The result is absolute, and has no segment that is empty, `.` or `..`. For a path of many segments, node:path would be
 * much slower.
 */
function cleanPath(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`
}

/**
 * Returns each mount path that is below another mount path, together with the innermost mount path above it. A Pod may have hundreds of
 * mount paths, and each of them may have thousands of segments. To be fast, the function compares each path with only a few other paths.
 */
function outerMounts(paths: readonly string[]): readonly (readonly [path: string, outer: string])[] {
  const found: (readonly [string, string])[] = []
  /** The mounts above the current path, from the outermost to the innermost. */
  const above: string[] = []
  for (const path of paths.toSorted(compare)) {
    while (above.length > 0 && !isBelow(path, above.at(-1)!)) above.pop()
    const outer = above.at(-1)
    if (outer !== undefined) found.push([path, outer])
    above.push(path)
  }
  return found
}

/**
 * Compares two paths for a sort. The slash counts as the smallest character. Therefore, the paths below a folder come directly after the
 * folder.
 */
function compare(one: string, other: string): number {
  let at = 0
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1
  return rankAt(one, at) - rankAt(other, at)
}

/** Returns the code of the character at an index, -1 for a slash, and -2 at the end of the path. */
function rankAt(path: string, at: number): number {
  if (at >= path.length) return -2
  return path[at] === '/' ? -1 : path.charCodeAt(at)
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder === '/' ? folder : `${folder}/`)
}
