/** Jobs and CronJobs. */
import type { FieldError } from '../../../api/field-error.ts'
import { invalid, notSupported, required } from '../../../api/field-error.ts'
import type { JsonObject } from '../../../api/json.ts'
import { isObject } from '../../../api/json.ts'
import { builtinResource } from '../builtin-resource.ts'
import { ageColumn, at, humanAge, integerColumn, listAt, nameColumn, numberAt, sizeAt, textAt, textColumn } from '../columns.ts'
import { changeObjectField, withDefaults } from '../defaults.ts'
import { humanDuration } from '../human-duration.ts'
import type { ResourceInfo } from '../resource-info.ts'
import { defaultPodTemplate } from './pod-defaults.ts'
import { validatePodSpec } from './pod-validation.ts'
import { templateColumns } from './workloads.ts'

const group = 'batch'
const restartPolicies = ['OnFailure', 'Never']

function defaultJobSpec(spec: JsonObject): JsonObject {
  const filled = withDefaults(spec, {
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    manualSelector: false,
    podReplacementPolicy: 'TerminatingOrFailed',
  })
  // Neither said: one Pod. Completions alone unsaid: a work queue, where the first success ends it.
  const sized = withDefaults(filled, { ...(filled.parallelism === undefined ? { completions: 1 } : {}), parallelism: 1 })
  return changeObjectField(sized, 'template', defaultPodTemplate)
}

/** A Job finds its Pods by a label with its own uid, unless it is told otherwise. */
function withOwnSelector(job: JsonObject): JsonObject {
  const uid = textAt(job, 'metadata', 'uid')
  const [name, spec] = [textAt(job, 'metadata', 'name'), job.spec]
  if (!isObject(spec) || spec.manualSelector === true || isObject(spec.selector)) return job
  const labels = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
  const template = isObject(spec.template) ? spec.template : {}
  const metadata = isObject(template.metadata) ? template.metadata : {}
  const own = { ...(isObject(metadata.labels) ? metadata.labels : {}), ...labels }
  return {
    ...job,
    spec: {
      ...spec,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: { ...template, metadata: { ...metadata, labels: own } },
    },
  }
}

function validateJobSpec(spec: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const field of ['parallelism', 'completions', 'backoffLimit', 'activeDeadlineSeconds', 'ttlSecondsAfterFinished']) {
    const value = spec[field]
    if (typeof value === 'number' && value < 0) errors.push(invalid(`${path}.${field}`, value, 'must be greater than or equal to 0'))
  }
  errors.push(...validatePodSpec(at(spec, 'template', 'spec'), `${path}.template.spec`))
  const policy = textAt(spec, 'template', 'spec', 'restartPolicy')
  if (!restartPolicies.includes(policy)) {
    const unset = policy === 'Always' || policy === ''
    errors.push(
      unset
        ? required(`${path}.template.spec.restartPolicy`, 'valid values: "OnFailure", "Never"')
        : notSupported(`${path}.template.spec.restartPolicy`, policy, restartPolicies),
    )
  }
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
    ...templateColumns,
  ],
  selectableFields: (job) => ({ 'status.successful': String(numberAt(job, 'status', 'succeeded')) }),
  strategy: {
    generation: true,
    default: (job) => changeObjectField(job, 'spec', defaultJobSpec),
    prepareForCreate: (job) => ({ ...withOwnSelector(job), status: {} }),
    validate: (job, _old, subresource) => (subresource === 'status' ? [] : validateJobSpec(isObject(job.spec) ? job.spec : {}, 'spec')),
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
    textColumn('Suspend', (job) => (at(job, 'spec', 'suspend') === true ? 'True' : 'False')),
    integerColumn('Active', (job) => sizeAt(job, 'status', 'active')),
    textColumn('Last Schedule', (job, now) =>
      textAt(job, 'status', 'lastScheduleTime') === '' ? '<none>' : humanAge(textAt(job, 'status', 'lastScheduleTime'), now),
    ),
    ageColumn,
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
          changeObjectField(template, 'spec', (jobSpec) => changeObjectField(jobSpec, 'template', defaultPodTemplate)),
        )
      }),
    prepareForCreate: (job) => ({ ...job, status: {} }),
    validate: (job, _old, subresource) => {
      if (subresource === 'status') return []
      const schedule = textAt(job, 'spec', 'schedule') === '' ? [required('spec.schedule')] : []
      const template = at(job, 'spec', 'jobTemplate', 'spec')
      return [...schedule, ...validateJobSpec(isObject(template) ? template : {}, 'spec.jobTemplate.spec')]
    },
  },
})

export const batchResources: readonly ResourceInfo[] = [jobs, cronJobs]
