/** Tests of the selection of controllers. */
import t from 'tap'
import type { ControllerSelection } from '../../../src/devcluster/controllers/controller-selection.ts'
import { controllerNames, isControllerSelection, isSelected } from '../../../src/devcluster/controllers/controller-selection.ts'
import { startDevCluster } from '../../../src/devcluster/dev-cluster.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'

// These cases include those of k8s.io/controller-manager/app: TestIsControllerEnabled.
t.test('the first item that names a controller decides, then "*"', (t) => {
  const name = 'job-controller'
  for (const [selection, expected] of [
    [true, true],
    [false, false],
    [[], false],
    [['*'], true],
    [['job-controller'], true],
    [['cronjob-controller'], false],
    [['*', '-job-controller'], false],
    [['-job-controller', '*'], false],
    [['*', '-cronjob-controller'], true],
    [['-cronjob-controller', 'job-controller'], true],
    [['job-controller', '-job-controller'], true],
    [['-job-controller', 'job-controller'], false],
  ] satisfies [ControllerSelection, boolean][])
    t.equal(isSelected(selection, name), expected, JSON.stringify(selection))
  t.end()
})

t.test('a selection is checked', (t) => {
  for (const valid of [true, false, [], ['*'], [...controllerNames], ['*', '-job-controller'], ['-job-controller', 'cronjob-controller']])
    t.strictSame(isControllerSelection(valid, 'controllers'), [], JSON.stringify(valid))
  const known = `the controllers are ${controllerNames.join(', ')}; "-" before a name omits it, "*" means all`
  for (const [invalid, problem] of [
    ['job-controller', 'controllers: must be true, false or a list of controllers, found "job-controller"'],
    [null, 'controllers: must be true, false or a list of controllers, found null'],
    [['*', 'all', 'toString'], `controllers: unknown controllers "all", "toString": ${known}`],
    [[1], `controllers: unknown controller 1: ${known}`],
    [['*', '-job'], 'controllers: unknown controller "-job"; did you mean -job-controller?'],
    [['cronjobs'], 'controllers: unknown controller "cronjobs"; did you mean cronjob-controller?'],
    [['*', '-replicasetcontroller'], 'controllers: unknown controller "-replicasetcontroller"; did you mean -replicaset-controller?'],
    [
      ['-job-controller', '-cronjob-controller'],
      'controllers: names only controllers that do not run, so that no controller runs: add "*" for all others',
    ],
  ] as const)
    t.strictSame(isControllerSelection(invalid, 'controllers'), [problem])
  t.strictSame(isControllerSelection(['-job', 'x'], 'controllers'), [
    'controllers: unknown controller "-job"; did you mean -job-controller?',
    `controllers: unknown controller "x": ${known}`,
  ])
  t.end()
})

t.test('a cluster is not started with an unknown controller', async (t) => {
  const controllers = ['*', '-jobs'] as never
  await t.rejects(startDevCluster({ port: 0, controllers, logger: silentLogger() }), {
    code: 'PRO_CONFIG_INVALID',
    message: /^The options of startDevCluster are invalid: controllers: unknown controller "-jobs"; did you mean -job-controller\?/,
  })
})
