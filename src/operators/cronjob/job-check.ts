/** Validates the Job template of a CronJob. The validation sends requests to the API server. */
import { batch, forbidden, invalid, isApiError } from 'proreus'
import type { AdmissionContext, DeepReadonly, FieldError, StatusCause } from 'proreus'
import type { CronJob } from './kind.ts'

const path = 'spec.jobTemplate'

/**
 * Checks that the requester may create Jobs. Without this check, a requester who may create only CronJobs could start any Job through a
 * CronJob.
 */
export async function checkRequester({ namespace, requesterCan, user }: AdmissionContext): Promise<readonly FieldError[]> {
  if (await requesterCan({ verb: 'create', type: batch.job })) return []
  const what = `resource "jobs" in API group "batch" in the namespace "${namespace}"`
  return [forbidden(path, `user "${user.username}" cannot create ${what}, which a CronJob needs`)]
}

/** Validates a Job template with a dry-run request that creates a Job from the template. */
export async function checkJob(
  template: DeepReadonly<CronJob>['spec']['jobTemplate'],
  { client, namespace, warn }: AdmissionContext,
): Promise<readonly FieldError[]> {
  const { labels = {}, annotations = {} } = template.metadata ?? {}
  const metadata = { generateName: 'cronjob-check-', namespace, labels, annotations }
  try {
    await client.create(batch.job, { ...template, metadata }, { dryRun: true })
    return []
  } catch (error) {
    if (!isApiError(error)) throw error
    switch (error.statusCode) {
      case 422:
        return error.causes.length > 0 ? error.causes.map(causeInTemplate) : [invalid(path, 'object', error.message)]
      case 400:
        return [invalid(path, 'object', error.message)]
      case 403:
        // A quota denies the Job now, but may permit the Job later. Therefore, the webhook allows the CronJob. The status of the CronJob
        // will contain the error.
        warn(`a Job would be refused now: ${error.message}`)
        return []
      case 404:
        // The namespace does not exist. Because the API server denies the CronJob for this reason, the webhook returns no error of its own.
        return []
      default:
        throw error
    }
  }
}

function causeInTemplate({ field = '', message = '', reason }: StatusCause): FieldError {
  return {
    path: field === '' ? path : `${path}.${field}`,
    message,
    reason: (reason ?? 'FieldValueInvalid') as FieldError['reason'],
  }
}
