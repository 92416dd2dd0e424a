/** Tests of the operator in the README. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startDev } from '../support/process/dev.ts'
import { needsKubectl, repository } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'

const example = join(repository, 'docs/examples/hello.ts')
const source = readFileSync(example, 'utf8')

t.test('the README shows the tested file, in under 40 lines', async (t) => {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8')
  t.equal(/<!-- docs\/examples\/hello\.ts -->\n```ts\n([\s\S]*?)```/.exec(readme)?.[1], source)
  t.ok(source.split('\n').length < 40)
})

t.test('the operator defaults, refuses and reconciles', needsKubectl, async (t) => {
  const { kubectl, ok } = await startDev(t, example)
  const hello = (name: string, spec: string): string =>
    `{"apiVersion":"example.com/v1","kind":"Hello","metadata":{"name":"${name}","namespace":"default"},"spec":${spec}}`
  await ok('create -f -', hello('world', '{"message":"hi"}'))
  t.equal(await ok('get hello world -o jsonpath={.spec.times}'), '2')
  await until('it has been said', async () => (await ok('get hello world -o jsonpath={.status.said}')) === 'hi hi')
  t.equal(await ok('get configmap world -o jsonpath={.data.said}'), 'hi hi')
  t.match(await ok('get hellos'), /NAME +SAID\nworld +hi hi\n/)
  await ok('delete configmap world')
  await until('the ConfigMap is back', async () => (await kubectl('get configmap world')).code === 0)
  t.equal(
    (await kubectl('create -f -', hello('bad', '{"message":"goodbye","times":9}'))).stderr,
    `The Hello "bad" is invalid: \n* spec.message: Invalid value: "goodbye": must greet\n* spec.times: Invalid value: 9: spec.times in body should be less than or equal to 5\n`,
  )
  await ok('delete hello world')
  await until('the ConfigMap is gone', async () => (await kubectl('get configmap world')).code === 1)
})
