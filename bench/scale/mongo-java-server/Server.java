import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import java.util.List;

/** mongo-java-server with its data in a file of H2: Server FILE. */
class Server {
    /** The oldest version that today's driver accepts. */
    private static final MongoVersion VERSION =
            new MongoVersion() {
                @Override
                public List<Integer> getVersionArray() {
                    return List.of(4, 4, 0);
                }

                @Override
                public int getWireVersion() {
                    return 9;
                }
            };

    public static void main(String[] arguments) {
        H2Backend backend = new H2Backend(arguments[0]);
        backend.version(VERSION);
        MongoServer server = new MongoServer(backend);
        System.out.println("Listening on " + server.bindAndGetConnectionString());
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
    }
}
