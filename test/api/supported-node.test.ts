import t from 'tap'
import { nodeProblem } from '../../src/api/supported-node.ts'

t.test('Node.js 22.19 and later are accepted, older versions are not', async (t) => {
  for (const version of ['22.19.0', '22.19.1', '22.20.0', '23.0.0', '100.0.0']) t.equal(nodeProblem(version), undefined, version)
  for (const version of ['22.18.9', '22.2.0', '21.19.0', '20.20.2', '9.99.9'])
    t.equal(nodeProblem(version), `proreus needs Node.js 22.19 or later; this is ${version}.`)
  t.equal(nodeProblem(), undefined, 'the running version')
})
