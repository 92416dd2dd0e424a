/** The indexes that find the Jobs and Pods of an Xxx, and the Xxxes of a Job, a Pod or a file. */
import { cacheView, controllerOf, core, defineCacheIndex } from 'proreus'
import { cleanUpName } from './clean-up-job.ts'
import { jobView } from './job-view.ts'
import { xxx } from './kind.ts'
import { uidLabel, xxxUidOf } from './labels.ts'

/**
 * The Pods of builds and clean-ups. The view selects them by label, and not by their Job, because a Pod can still exist after its Job has
 * been deleted.
 */
export const xxxPods = cacheView(core.pod, { labels: { matchExpressions: [{ key: uidLabel, operator: 'Exists' }] } })

export const podsByXxx = defineCacheIndex(xxxPods, 'xxx', xxxUidOf)
export const jobsByXxx = defineCacheIndex(jobView, 'xxx', xxxUidOf)
export const jobsByController = defineCacheIndex(jobView, 'controller', (job) => controllerOf(job)?.uid)
export const xxxesByUid = defineCacheIndex(xxx, 'uid', ({ metadata }) => metadata.uid)
/** The index of Xxxes by the names of their build Job and their clean-up Job. */
export const xxxesByJob = defineCacheIndex(xxx, 'job', ({ spec: { jobName } }) => [jobName, cleanUpName(jobName)])
/** The index of Xxxes by the names of their files. These are the names in `spec.binaryName` and `status.binaryNames`. */
export const xxxesByBinary = defineCacheIndex(xxx, 'binary', ({ spec, status }) => [spec.binaryName, ...(status?.binaryNames ?? [])])
