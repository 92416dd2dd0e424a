/** The built-in types Job and CronJob. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, humanAge, integerColumn, nameColumn, textColumn } from '../columns.ts'
import { at, listAt, numberAt, sizeAt, textAt } from '../../apimachinery/unstructured.ts'
import { changeItems, changeObjectField, withDefaults } from '../defaulting.ts'
import { humanDuration } from '../human-duration.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { immutable, nonNegative, validateEnum } from './field-checks.ts'
import { scheduleProblem } from './cron-schedule.ts'
import { generatedSelectorErrors, selectorErrors, withGeneratedSelector } from './job-selector.ts'
import { defaultPodTemplate } from './pod-defaults.ts'
import { validateTimeZone } from './time-zone.ts'
import { validateTemplateUpdate } from './job-template-update.ts'
import { validateJobSpec } from './job-validation.ts'
import { templateColumns } from './workloads.ts'

const group = 'batch'
const maxInt32 = 2 ** 31 - 1

/** Defaults `status` to `True` in the `onPodConditions` patterns of a Pod failure policy. */
function defaultFailurePolicy(spec: JsonObject): JsonObject {
  return changeObjectField(spec, 'podFailurePolicy', (policy) =>
    changeItems(policy, 'rules', (rule) =>
      changeItems(rule, 'onPodConditions', (pattern) => (textAt(pattern, 'status') === '' ? { ...pattern, status: 'True' } : pattern)),
    ),
  )
}

function defaultJobSpec(spec: JsonObject): JsonObject {
  const filled = withDefaults(spec, {
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : maxInt32,
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
  })
  // If `completions` and `parallelism` are missing, the Job runs one Pod. If only `completions` is missing, the Job is a work queue.
  // `completions` of a work queue stays unset, and the success of any Pod counts as the success of all Pods.
  const sized = withDefaults(filled, { ...(filled.parallelism === undefined ? { completions: 1 } : {}), parallelism: 1 })
  return changeObjectField(defaultFailurePolicy(sized), 'template', defaultPodTemplate)
}

function validateJob(job: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = isObject(job.spec) ? job.spec : {}
  const errors = [...generatedSelectorErrors(job), ...validateJobSpec(spec, 'spec'), ...selectorErrors(spec)]
  if (old === undefined) return errors
  const before = isObject(old.spec) ? old.spec : {}
  const fixed = ['selector', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy']
  if (spec.completionMode !== 'Indexed') fixed.push('completions')
  else if (spec.completions !== before.completions && typeof spec.completions === 'number' && spec.completions !== spec.parallelism)
    errors.push(invalid('spec.completions', spec.completions, 'can only be modified in tandem with spec.parallelism'))
  errors.push(...fixed.flatMap((field) => immutable(spec[field], before[field], `spec.${field}`)))
  return [...errors, ...validateTemplateUpdate(spec, old)]
}

function validateCronJob(job: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = isObject(job.spec) ? job.spec : {}
  const [schedule, policies] = [textAt(spec, 'schedule'), ['Allow', 'Forbid', 'Replace']]
  const errors: FieldError[] = []
  if (schedule === '') errors.push(required('spec.schedule'))
  else {
    const problem = scheduleProblem(schedule)
    if (problem !== undefined) errors.push(invalid('spec.schedule', schedule, problem))
    if (schedule.includes('TZ') && !textAt(old, 'spec', 'schedule').includes('TZ'))
      errors.push(invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  }
  errors.push(...nonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'))
  if (typeof spec.timeZone === 'string' && spec.timeZone !== at(old, 'spec', 'timeZone'))
    errors.push(...validateTimeZone(spec.timeZone, 'spec.timeZone'))
  errors.push(...validateEnum(spec, 'concurrencyPolicy', 'spec', policies))
  const template = at(spec, 'jobTemplate', 'spec')
  errors.push(...validateJobSpec(isObject(template) ? template : {}, 'spec.jobTemplate.spec'))
  if (at(template, 'manualSelector') === true) errors.push(notSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false']))
  if (isObject(at(template, 'selector')))
    errors.push(invalid('spec.jobTemplate.spec.selector', at(template, 'selector'), '`selector` will be auto-generated'))
  for (const field of ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit']) errors.push(...nonNegative(spec[field], `spec.${field}`))
  const name = textAt(job, 'metadata', 'name')
  // The name of a Job has at most 63 characters. For the name of a Job, the CronJob controller appends a suffix of 11 characters to the
  // name of the CronJob.
  if (old === undefined && name.length > 52) errors.push(invalid('metadata.name', name, 'must be no more than 52 characters'))
  return errors
}

function jobDuration(job: JsonObject, now: number): string {
  const start = Date.parse(textAt(job, 'status', 'startTime'))
  if (Number.isNaN(start)) return ''
  const end = Date.parse(textAt(job, 'status', 'completionTime'))
  return humanDuration((Number.isNaN(end) ? now : end) - start)
}

function completions(job: JsonObject): string {
  const wanted = at(job, 'spec', 'completions')
  const succeeded = numberAt(job, 'status', 'succeeded')
  if (typeof wanted === 'number') return `${succeeded}/${wanted}`
  const parallelism = numberAt(job, 'spec', 'parallelism')
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobStatus(job: JsonObject): string {
  const holds = (type: string): boolean =>
    listAt(job, 'status', 'conditions').some((condition) => at(condition, 'type') === type && at(condition, 'status') === 'True')
  if (holds('Complete')) return 'Complete'
  if (holds('Failed')) return 'Failed'
  if (at(job, 'metadata', 'deletionTimestamp') !== undefined) return 'Terminating'
  return holds('Suspended') ? 'Suspended' : 'Running'
}

const orphanWarning =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or ' +
  'set propagationPolicy=Orphan to suppress this warning'

const jobs = builtinResource({
  group,
  kind: 'Job',
  plural: 'jobs',
  categories: ['all'],
  status: true,
  columns: [
    nameColumn,
    textColumn('Status', jobStatus),
    textColumn('Completions', completions),
    textColumn('Duration', jobDuration),
    ageColumn,
    ...templateColumns('spec'),
  ],
  selectableFields: (job) => ({ 'status.successful': String(numberAt(job, 'status', 'succeeded')) }),
  strategy: {
    generation: true,
    default: (job) => changeObjectField(job, 'spec', defaultJobSpec),
    prepareForCreate: withGeneratedSelector,
    validate: (job, old, subresource) => (subresource === 'status' ? [] : validateJob(job, old)),
    orphansDependents: true,
    deletionWarnings: ({ propagationPolicy, orphanDependents }) =>
      typeof propagationPolicy === 'string' || typeof orphanDependents === 'boolean' ? [] : [orphanWarning],
  },
})

const cronJobs = builtinResource({
  group,
  kind: 'CronJob',
  plural: 'cronjobs',
  shortNames: ['cj'],
  categories: ['all'],
  status: true,
  columns: [
    nameColumn,
    textColumn('Schedule', (job) => textAt(job, 'spec', 'schedule')),
    textColumn('Timezone', (job) => textAt(job, 'spec', 'timeZone') || '<none>'),
    { ...textColumn('Suspend', (job) => (at(job, 'spec', 'suspend') === true ? 'True' : 'False')), type: 'boolean' },
    integerColumn('Active', (job) => sizeAt(job, 'status', 'active')),
    textColumn('Last Schedule', (job, now) =>
      textAt(job, 'status', 'lastScheduleTime') === '' ? '<none>' : humanAge(textAt(job, 'status', 'lastScheduleTime'), now),
    ),
    ageColumn,
    ...templateColumns('spec', 'jobTemplate', 'spec'),
  ],
  strategy: {
    generation: true,
    default: (job) =>
      changeObjectField(job, 'spec', (spec) => {
        const filled = withDefaults(spec, {
          concurrencyPolicy: 'Allow',
          suspend: false,
          successfulJobsHistoryLimit: 3,
          failedJobsHistoryLimit: 1,
        })
        return changeObjectField(filled, 'jobTemplate', (template) =>
          changeObjectField(withDefaults(template, { metadata: {} }), 'spec', (jobSpec) =>
            changeObjectField(defaultFailurePolicy(jobSpec), 'template', (pods) =>
              withDefaults(defaultPodTemplate(pods), { metadata: {} }),
            ),
          ),
        )
      }),
    validate: (job, old, subresource) => (subresource === 'status' ? [] : validateCronJob(job, old)),
  },
})

export const batchResources: readonly ResourceInfo[] = [jobs, cronJobs]
