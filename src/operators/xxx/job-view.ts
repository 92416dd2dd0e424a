/** `jobView`: the view that defines which fields of the Jobs are stored in the cache. */
import { batch, cacheView } from 'proreus'
import { binaryName, specHash } from './build-job.ts'
import { occasionHash } from './clean-up-job.ts'
import { jobLabels } from './labels.ts'

/**
 * Maximum number of characters in a file name. The cache cuts a longer value of an annotation to `maxLength + 1` characters. A cut value is
 * still too long, so it is not a valid file name.
 */
const maxLength = 255

/** To save memory, the cache contains only the fields that the operator reads. Other clients can create very large Jobs. */
export const jobView = cacheView(batch.job, {
  transform: ({ apiVersion, kind, metadata, status }): batch.Job => {
    const { labels, annotations, ...rest } = metadata
    const kept = { ...rest, labels: pick(labels, jobLabels), annotations: pick(annotations, [specHash, binaryName, occasionHash]) }
    return { apiVersion, kind, metadata: kept, ...(status !== undefined && { status }) }
  },
})

function pick(map: Readonly<Record<string, string>> | undefined, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.flatMap((key) => (map?.[key] === undefined ? [] : [[key, map[key].slice(0, maxLength + 1)]])))
}
