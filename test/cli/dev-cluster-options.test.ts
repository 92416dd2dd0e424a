/** Tests of the flags of `proreus dev` for simulated nodes, delays and controllers. */
import { resolve } from 'node:path'
import t from 'tap'
import { parseControllers, parseDelays, parseImage, parseNode, parseNodeCount } from '../../src/cli/dev-cluster-options.ts'

t.test('a number of nodes is parsed', (t) => {
  t.strictSame(['0', '3', '1000'].map(parseNodeCount), [0, 3, 1000])
  for (const text of ['', '-1', '1.5', '1001', 'many']) t.throws(() => parseNodeCount(text), /a number from 0 to 1000/, text)
  t.end()
})

t.test('a node is parsed with its labels and taints', (t) => {
  t.strictSame(parseNode('a'), { name: 'a', labels: {}, taints: [] })
  t.strictSame(parseNode('gpu-1, disk=ssd,empty=,gpu=true:NoSchedule,example.com/x:NoExecute'), {
    name: 'gpu-1',
    labels: { disk: 'ssd', empty: '' },
    taints: [
      { key: 'gpu', value: 'true', effect: 'NoSchedule' },
      { key: 'example.com/x', effect: 'NoExecute' },
    ],
  })
  t.strictSame(parseNode('a,ready'), { name: 'a', labels: { ready: '' }, taints: [] })
  for (const [text, message] of [
    ['', /the name ""/],
    ['A_B', /the name "A_B"/],
    ['a,k=v:Never', /k=v:Never: the effect of a taint is one of NoSchedule, PreferNoSchedule, NoExecute/],
    ['a,=v', /=v: name part must be non-empty/],
    ['a,k=v w', /k=v w: a valid label/],
  ] as const)
    t.throws(() => parseNode(text), message, text)
  t.end()
})

t.test('images and their folders are parsed', (t) => {
  t.strictSame(parseImage('postgres:15=/images/postgres'), { 'postgres:15': '/images/postgres' })
  t.strictSame(parseImage('a@sha256:00=b', { c: '/d' }), { c: '/d', 'a@sha256:00': resolve('b') })
  for (const text of ['', 'a', '=b', 'a=']) t.throws(() => parseImage(text), /it is written as NAME=FOLDER/, text)
  t.end()
})

t.test('delays are parsed', (t) => {
  t.strictSame(parseDelays('schedule=1s,pull=2s,start=500ms,ready=3s,stop=1m,node-grace=5s'), {
    scheduleMs: 1000,
    pullMs: 2000,
    startMs: 500,
    readyMs: 3000,
    stopMs: 60_000,
    nodeGraceMs: 5000,
  })
  t.throws(() => parseDelays('pulls=1s'), /pulls=1s: it is written as STEP=DURATION; the steps are schedule, pull/)
  t.throws(() => parseDelays('toString=1s'), /STEP=DURATION/)
  t.throws(() => parseDelays('pull=soon'), /a duration is a number/)
  t.end()
})

t.test('a selection of controllers is parsed', async (t) => {
  t.strictSame(await parseControllers('*, -job-controller'), ['*', '-job-controller'])
  t.strictSame(await parseControllers('job-controller'), ['job-controller'])
  t.equal(await parseControllers('none'), false)
  await t.rejects(parseControllers('*,-jobs'), /^--controllers: unknown controller "-jobs"; did you mean -job-controller\?/)
  await t.rejects(
    parseControllers('*,-pods'),
    /^--controllers: unknown controller "-pods": the controllers are certificatesigningrequest-approving-controller, .*job-controller/,
  )
  await t.rejects(parseControllers('-job-controller'), /add "\*" for all others/)
})
