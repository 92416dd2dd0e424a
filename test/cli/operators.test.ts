/**
 * Tests of the selection of operators. The tests run in the folder of this repository. The file package.json in this folder selects `all`
 * operators, and specifies the name `proreus` for the installation.
 */
import { join } from 'node:path'
import t from 'tap'
import { selectOperators, selectsOperators } from '../../src/cli/operators.ts'
import { shippedNames } from '../../src/operators/index.ts'
import { mypodOperator } from '../../src/operators/mypod/index.ts'
import { repository } from '../support/process/process.ts'

const hello = join(repository, 'docs/examples/hello.ts')
process.chdir(repository)

t.test('without options, operators and name are those of the project', async (t) => {
  const { operators, name } = await selectOperators({})
  t.strictSame(
    operators.map((operator) => operator.name),
    shippedNames,
  )
  t.equal(name, 'proreus')
  t.equal((await selectOperators({ name: 'team-a' })).name, 'team-a')
})

t.test('other operators do not take the name of the project', async (t) => {
  t.strictSame(await selectOperators({ operators: 'mypod' }), { operators: [mypodOperator], name: undefined })
  t.strictSame(await selectOperators({ operators: 'none' }), { operators: [], name: undefined })
})

t.test('an empty list, such as that of an unset variable, is refused; "none" selects none', async (t) => {
  for (const operators of ['', ' ', ','])
    await t.rejects(selectOperators({ operators }), { code: 'PRO_CONFIG_INVALID', message: /^No operators are selected: / })
})

t.test('all shipped operators together are the installation "proreus"', async (t) => {
  t.equal((await selectOperators({ operators: 'all' })).name, 'proreus')
  t.equal((await selectOperators({ operators: `all,mypod` })).name, undefined)
})

t.test('each operator is selected once, in order', async (t) => {
  const { operators, name } = await selectOperators({ operators: ` mypod , ${hello},all,,mypod`, name: 'x' })
  t.strictSame(
    operators.map(({ name }) => name),
    ['mypod', 'hello', 'memcached', 'echo', 'cronjob', 'xxx'],
  )
  t.equal(name, 'x')
  t.equal((await selectOperators({ operators: `none,${hello}` })).operators.length, 1)
})

t.test('a folder without a project must name its operators', async (t) => {
  process.chdir(t.testdir())
  t.teardown(() => process.chdir(repository))
  const nothing =
    'No operators are selected: add --operators with your file, e.g. --operators ./my-operator.ts, or put "proreus": { "operators": "./my-operator.ts" } into package.json; "--operators all" selects those that come with Proreus (mypod, memcached, echo, cronjob, xxx).'
  await t.rejects(selectOperators({}), { code: 'PRO_CONFIG_INVALID', message: nothing })
  await t.rejects(selectOperators({ operators: 'mypods' }), {
    code: 'PRO_CONFIG_INVALID',
    message:
      'There is no operator "mypods". The shipped ones are: mypod, memcached, echo, cronjob, xxx; for your own operator use its file, e.g. ./my-operator.ts.',
  })
  await t.rejects(selectOperators({ operators: `${hello}.absent` }), { message: /does not exist/ })
})

t.test('the name of a project applies to its own operators', async (t) => {
  process.chdir(t.testdir({ 'package.json': JSON.stringify({ proreus: { operators: [hello, 'mypod'], name: 'team-a' } }) }))
  t.teardown(() => process.chdir(repository))
  const { operators, name } = await selectOperators({})
  t.strictSame([...operators.map((operator) => operator.name), name], ['hello', 'mypod', 'team-a'])
  t.equal((await selectOperators({ operators: 'mypod' })).name, undefined)
  t.equal((await selectOperators({ operators: 'mypod', name: 'team-b' })).name, 'team-b')
})

t.test('a selection is checked without loading its files', (t) => {
  t.equal(selectsOperators({ operators: 'mypod,./missing.ts' }), true)
  t.equal(selectsOperators({ operators: 'all' }), true)
  t.equal(selectsOperators({ operators: 'none' }), false)
  t.throws(() => selectsOperators({ operators: './missing.ts,mypods' }), /There is no operator "mypods"/)
  t.throws(() => selectsOperators({ operators: ' ,' }), /No operators are selected/)
  t.end()
})

t.test('the environment variables of a shipped operator are read only when it is selected', async (t) => {
  process.chdir(repository)
  process.env['XXX_OUTPUT'] = '/opt'
  t.teardown(() => delete process.env['XXX_OUTPUT'])
  t.equal((await selectOperators({ operators: 'mypod' })).operators.length, 1)
  t.equal(selectsOperators({ operators: 'all' }), true)
  for (const operators of ['xxx', 'all'])
    await t.rejects(selectOperators({ operators }), {
      code: 'PRO_CONFIG_INVALID',
      message: /^The environment variable XXX_OUTPUT is "\/opt"/,
    })
})
