import t from 'tap'
import { planNode } from '../../../../../src/devcluster/controllers/workloads/daemon-set/manage.ts'
import { daemonPodWith, daemonSetWith } from '../../../../support/workloads/objects.ts'

const [run, stay, leave] = [
  { shouldRun: true, shouldContinue: true },
  { shouldRun: false, shouldContinue: true },
  { shouldRun: false, shouldContinue: false },
]
const ready = { readySince: 0 }
const old = daemonPodWith({ name: 'old', revision: 'old', ...ready })
const oldNotReady = daemonPodWith({ name: 'old', revision: 'old' })
const updated = daemonPodWith({ name: 'new', revision: 'new', ...ready })
const updatedNotReady = daemonPodWith({ name: 'new', revision: 'new' })
const third = daemonPodWith({ name: 'third', revision: 'new' })
const failed = daemonPodWith({ name: 'failed', revision: 'new', phase: 'Failed' })
const deleted = daemonPodWith({ name: 'deleted', revision: 'new', isDeleted: true })

t.test('a node gets a Pod, or loses those that it shall not have', (t) => {
  const cases: readonly (readonly [string, typeof run, Parameters<typeof planNode>[2], boolean, string])[] = [
    ['no Pod', run!, undefined, false, 'needs'],
    ['no Pod with surge', run!, undefined, true, 'needs'],
    ['no Pod, but a taint', stay!, undefined, false, ''],
    ['no fit', leave!, undefined, false, ''],
    ['one Pod', run!, [old], false, ''],
    ['one Pod and a taint', stay!, [old], false, ''],
    ['one Pod without a fit', leave!, [old, deleted], false, '-old'],
    ['two Pods', run!, [old, updated], false, '-new'],
    ['a failed Pod', run!, [failed], false, '*failed'],
    ['a failed Pod and another one', run!, [failed, old, updated], false, '*failed -new'],
    ['a Pod that is being deleted', run!, [deleted], false, ''],
    ['a Pod that is being deleted, with surge', run!, [deleted], true, 'needs'],
    ['a Pod that is being deleted, with surge and a taint', stay!, [deleted], true, ''],
    ['surge: the new one is not available', run!, [old, updatedNotReady], true, ''],
    ['surge: the new one is available', run!, [old, updated], true, '-old'],
    ['surge: the old one is not ready', run!, [oldNotReady, updatedNotReady], true, '-old'],
    ['surge: two new ones', run!, [old, updatedNotReady, third], true, '-third'],
  ]
  for (const [name, fit, pods, surges, expected] of cases) {
    const plan = planNode(daemonSetWith({}), fit, pods, { hash: 'new', surges, now: 10_000 })
    const names = [...plan.ended.map(({ metadata }) => `*${metadata.name}`), ...plan.delete.map(({ metadata }) => `-${metadata.name}`)]
    t.equal([...(plan.needsPod ? ['needs'] : []), ...names].join(' '), expected, name)
  }
  t.end()
})
