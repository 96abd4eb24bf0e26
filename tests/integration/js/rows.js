// Writes rows, read by grpc-js, to stdout as JSON lines {"method", "data"} with data in base64.
//   node rows.js ADDRESS PROTO_DIRECTORY '{"spec": ..., "startPosition": ..., "rowCount": ...}'
'use strict';

const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const [address, protoDirectory, json] = process.argv.slice(2);
const definition = protoLoader.loadSync('phasor/v1/position_table_service.proto', {
  includeDirs: [protoDirectory],
  longs: String,
  enums: String,
});
const { PositionTableService } = grpc.loadPackageDefinition(definition).phasor.v1;
const client = new PositionTableService(address, grpc.credentials.createInsecure());
const request = JSON.parse(json);

function write(method, data) {
  process.stdout.write(JSON.stringify({ method, data: data.toString('base64') }) + '\n');
}

function unary(method) {
  return new Promise((resolve, reject) => {
    client[method](request, (error, answer) => {
      if (error) {
        reject(error);
        return;
      }
      write(method, answer.rows.data);
      resolve();
    });
  });
}

function stream(method) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    client[method](request)
      .on('data', (answer) => chunks.push(answer.rows.data))
      .on('error', reject)
      .on('end', () => {
        write(method, Buffer.concat(chunks));
        resolve();
      });
  });
}

async function main() {
  if (request.rowCount <= 4096) await unary('GetRows');
  await stream('ReadRows');
}

main()
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  })
  .finally(() => client.close());
