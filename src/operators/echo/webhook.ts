/** Validates Echo and ScheduledEcho objects against the rules that the schemas of these kinds cannot express. */
import { batch, invalid, isApiError } from 'proreus'
import type { AdmissionContext, DeepReadonly, FieldError, Incoming } from 'proreus'
import { cronJobFor } from './children.ts'
import type { Echo, ScheduledEcho } from './kind.ts'

/** Maximum length of the name of a Job and of a container. */
const maxJobName = 63
/** Maximum length of the name of a CronJob. The names of its Jobs are 11 characters longer. */
const maxCronJobName = 52
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

type Warn = Pick<AdmissionContext, 'warn'>

export function validateEcho({ metadata, spec }: DeepReadonly<Incoming<Echo>>, _old: unknown, { warn }: Warn): readonly FieldError[] {
  warnAbout(spec.message, warn)
  return nameErrors(metadata.name, maxJobName, 'Job')
}

export function validateScheduledEcho(
  { metadata, spec }: DeepReadonly<Incoming<ScheduledEcho>>,
  _old: unknown,
  { warn }: Warn,
): readonly FieldError[] {
  warnAbout(spec.message, warn)
  return nameErrors(metadata.name, maxCronJobName, 'CronJob')
}

/** Validates the schedule with a dry-run request that creates a CronJob. Errors about other fields are ignored. */
export async function validateSchedule(
  object: DeepReadonly<ScheduledEcho>,
  old: DeepReadonly<ScheduledEcho> | undefined,
  { client }: AdmissionContext,
): Promise<readonly FieldError[]> {
  const { schedule } = object.spec
  if (old?.spec.schedule === schedule) return []
  const { metadata, spec } = cronJobFor(object)
  const { namespace } = metadata
  try {
    await client.create(batch.cronJob, { metadata: { generateName: 'schedule-check-', namespace }, spec }, { dryRun: true })
    return []
  } catch (error) {
    if (!isApiError(error)) throw error
    return error.causes.flatMap(({ field, message = '' }) => (field === 'spec.schedule' ? [invalid(field, schedule, message)] : []))
  }
}

/**
 * @param name undefined in the mutating webhook if the API server generates the name. The API server generates names after the mutating
 *   webhooks.
 */
function nameErrors(name: string | undefined, most: number, child: string): readonly FieldError[] {
  if (name === undefined || (name.length <= most && label.test(name))) return []
  const rule = `a name must have at most ${most} characters: lower case letters, digits and '-', and must begin and end with a letter or digit`
  return [invalid('metadata.name', name, `${rule}, because the ${child} and its container have the same name`)]
}

function warnAbout(message: string, warn: Warn['warn']): void {
  if (message.startsWith('-')) warn('spec.message: the program echo may read a message that begins with "-" as an option')
}
