/** `report`: writes a result as one line of JSON, which the benchmark reads. */
export function report(result: object): void {
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
