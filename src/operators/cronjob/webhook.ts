/** Validates CronJobs of both versions against the rules that the schemas cannot express. */
import { defineWebhook, accessReviewRule, forbidden, invalid, jsonEqual, tooLong } from 'proreus'
import type { AdmissionContext, DeepReadonly, FieldError } from 'proreus'
import { scheduleAnnotation, textInV1 } from './conversion.ts'
import { checkJob, checkRequester } from './job-check.ts'
import { scheduledAt } from './jobs.ts'
import { cronJob, cronJobV2 } from './kind.ts'
import type { CronJob, CronJobV2 } from './kind.ts'
import { parseSchedule, textOf } from './schedule.ts'

/** Maximum length of the name of a CronJob. The names of its Jobs are 11 characters longer, and have at most 63 characters. */
const maxName = 52
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
/** The labels that the API server sets in the Pod template of each Job (k8s.io/kubernetes/pkg/registry/batch/job: generateSelector). */
const labelsOfJobs = ['controller-uid', 'job-name', 'batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name']

/**
 * Matches the same strings as `^\S+$`, which is the pattern of a cron field (e.g. the minute) in the schema of v2. The API server evaluates
 * the pattern as RE2. In RE2, `\S` matches every character except space, tab, line feed, form feed and carriage return. In JavaScript, `\S`
 * excludes more characters.
 */
const schemaField = /^[^\t\n\f\r ]+$/

/** The type of an object that is being created. Its metadata may still lack fields. */
type Given<T extends { readonly metadata: object }> = DeepReadonly<Omit<T, 'metadata'> & { metadata: Partial<T['metadata']> }>
type Warn = Pick<AdmissionContext, 'warn'>

export function validateV1(object: Given<CronJob>, old: DeepReadonly<CronJob> | undefined, context: Warn): readonly FieldError[] {
  const { schedule } = object.spec
  return validate(object, context, schedule === old?.spec.schedule ? [] : scheduleErrors(schedule))
}

export function validateV2(object: Given<CronJobV2>, old: DeepReadonly<CronJobV2> | undefined, context: Warn): readonly FieldError[] {
  const text = textInV1(object)
  return validate(object, context, old !== undefined && text === textInV1(old) ? [] : scheduleErrorsInV2(object, text))
}

function scheduleErrors(text: string): readonly FieldError[] {
  const parsed = parseSchedule(text)
  return 'next' in parsed ? [] : parsed.map(({ message }) => invalid('spec.schedule', text, message))
}

function scheduleErrorsInV2({ spec: { schedule } }: Given<CronJobV2>, text: string): readonly FieldError[] {
  // If a field is empty or contains white space, the schema reports this field. The text of such a schedule does not have five fields, so
  // `parseSchedule` would return a second, misleading error.
  if (Object.values(schedule).some((field) => !schemaField.test(field))) return []
  const parsed = parseSchedule(text)
  if ('next' in parsed) return []
  return parsed.map(({ field, message }) => {
    const detail = `invalid cron schedule format: ${message}`
    if (text !== textOf(schedule)) return invalid(`metadata.annotations[${scheduleAnnotation}]`, text, detail)
    return field === undefined ? invalid('spec.schedule', text, detail) : invalid(`spec.schedule.${field}`, schedule[field], detail)
  })
}

/** Returns the errors of the schedule, and the errors of the fields that both versions have. */
function validate({ metadata, spec }: Given<CronJob | CronJobV2>, { warn }: Warn, schedule: readonly FieldError[]): readonly FieldError[] {
  // An object that is being deleted is not validated, because rules that have become stricter could deny the update that removes the
  // finalizers.
  if (metadata.deletionTimestamp !== undefined) return []
  if (spec.startingDeadlineSeconds === 0) warn('spec.startingDeadlineSeconds: with 0, every Job is too late, and none is started')
  return [...nameErrors(metadata.name), ...schedule, ...templateErrors(spec.jobTemplate)]
}

/**
 * @param name undefined in the mutating webhook if the API server generates the name. The API server generates names after the mutating
 *   webhooks.
 */
function nameErrors(name: string | undefined): readonly FieldError[] {
  if (name === undefined) return []
  if (name.length > maxName) return [tooLong('metadata.name', maxName)]
  const rule =
    "a name must have lower case letters, digits and '-', and must begin and end with a letter or digit, as the names of its Jobs"
  return label.test(name) ? [] : [invalid('metadata.name', name, rule)]
}

function templateErrors(template: DeepReadonly<CronJob>['spec']['jobTemplate']): readonly FieldError[] {
  const path = 'spec.jobTemplate'
  const podLabels = template.spec?.template.metadata?.labels
  const isAnnotated = template.metadata?.annotations?.[scheduledAt] !== undefined
  return [
    ...takenLabels(template.metadata?.labels, `${path}.metadata.labels`),
    ...takenLabels(podLabels, `${path}.spec.template.metadata.labels`),
    ...(isAnnotated ? [forbidden(`${path}.metadata.annotations[${scheduledAt}]`, 'the annotation is set by the operator')] : []),
  ]
}

function takenLabels(labels: Readonly<Record<string, string>> | undefined, path: string): readonly FieldError[] {
  const taken = labelsOfJobs.filter((key) => labels !== undefined && Object.hasOwn(labels, key))
  return taken.map((key) => forbidden(`${path}[${key}]`, 'the label is set by the API server'))
}

/**
 * Validates the Job template with requests to the API server. An unchanged spec is not checked, because existing CronJobs must stay
 * updatable when the rules become stricter.
 */
export async function validateInCluster(
  object: DeepReadonly<CronJob | CronJobV2>,
  old: DeepReadonly<CronJob | CronJobV2> | undefined,
  context: AdmissionContext,
): Promise<readonly FieldError[]> {
  if (object.metadata.deletionTimestamp !== undefined || jsonEqual(object.spec, old?.spec)) return []
  const { jobTemplate } = object.spec
  const isSame = jsonEqual(jobTemplate, old?.spec.jobTemplate)
  // The dry-run request has the permissions of the operator. It is therefore sent only if the requester may create Jobs.
  const refusal = await checkRequester(context)
  return refusal.length > 0 || isSame ? refusal : checkJob(jobTemplate, context)
}

/**
 * With `Exact`, the API server calls only the webhook of the version in the request. The errors of this webhook contain field paths of this
 * version.
 */
const settings = { matchPolicy: 'Exact', rbac: [accessReviewRule], validateInCluster } as const

export const webhooks = [
  defineWebhook(cronJob, { ...settings, validate: validateV1 }),
  defineWebhook(cronJobV2, { ...settings, validate: validateV2 }),
]
