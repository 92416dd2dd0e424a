/** Finds the writes of operators among the requests that an API server has served. */
import type { RequestRecord } from '../../../src/devcluster/http/handle.ts'
import type { ControlPlane } from '../../../src/testing/control-plane-types.ts'

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/**
 * Resolves with the writes of a user since `time`. Access reviews and dry runs are omitted, because they store nothing. Writes of webhook
 * configurations and CRDs are omitted, because an operator writes its new certificate into these objects at each start.
 *
 * @param time in milliseconds since 1970
 */
export async function writesOf(controlPlane: ControlPlane, user: string, time = 0): Promise<readonly RequestRecord[]> {
  return (await controlPlane.requests()).filter(
    ({ at, user: by, verb, path, query }) =>
      at >= time &&
      by === user &&
      !reads.has(verb) &&
      !/accessreviews|\/(admissionregistration|apiextensions)\.k8s\.io\//.test(path) &&
      !query.includes('dryRun=All'),
  )
}

export function writeText({ verb, path, code }: RequestRecord): string {
  return `${verb} ${path}: ${code}`
}
